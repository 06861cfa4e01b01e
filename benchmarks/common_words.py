"""Write the words that capture takes for common, from the packaged embedding model's vocabulary.

    python benchmarks/common_words.py

The vocabulary (of BERT, Apache License 2.0) lists whole words by how often they occur in books and
an encyclopedia. With its first 8,000 entries the cross-validated figures of ``train_topics.py``
were as good as with weights by rank, and better than with 5,000 or 16,000.
"""

from __future__ import annotations

import json
import sys

from segmentation import REPOSITORY

from keeplore.text.common_words import COMMON, stem

TOKENIZER = (
    REPOSITORY
    / "plugin"
    / "keeplore"
    / "index"
    / "embedding"
    / "model"
    / "tokenizer.json"
)
FIRST = 8000  # entries


def main() -> int:
    vocabulary = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]
    words = (
        word
        for word, place in vocabulary.items()
        if place <= FIRST and word.isascii() and word.isalpha()
    )
    stems = sorted({stem(word) for word in words if len(word) > 1})
    COMMON.write_text("".join(f"{one}\n" for one in stems), encoding="ascii")
    print(f"{COMMON}: {len(stems)} stems")
    return 0


if __name__ == "__main__":
    sys.exit(main())
