"""A sentence model from local files, run by onnxruntime itself.

fastembed would do, but importing it takes 0.4 s and 40 MB of a process that waits beside people's
work.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from keeplore.index.embedding.model_files import NO_REPORTS, ModelFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLS = "CLS"


class OnnxRunner:
    """Text → vector, pooled as the model wants it and not normalised. Loads the model; whatever the
    runtime raises.
    """

    def __init__(self, found: ModelFiles, threads: int) -> None:
        os.environ[NO_REPORTS] = "1"
        # here, as the next one, because whoever embeds nothing needs none of it
        import onnxruntime as ort
        from tokenizers import Tokenizer

        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_cpu_mem_arena = (
            False  # it would keep for good what the longest text needed, some 45 MB
        )
        # threads that wait for work in a loop take the machine from whoever works at it
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = ort.InferenceSession(
            found.directory / found.file, options, ["CPUExecutionProvider"]
        )
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._is_cls = found.pooling == CLS
        self._tokenizer = Tokenizer.from_file(str(found.directory / "tokenizer.json"))
        side = (self._tokenizer.truncation or {}).get("direction", "right")
        self._tokenizer.enable_truncation(found.max_tokens, direction=side)
        self._tokenizer.no_padding()

    def vector(self, text: str) -> NDArray[np.float32]:
        import numpy as np  # here, because it costs 40 ms and most commands embed nothing

        read = self._tokenizer.encode(text)
        rows = {
            "input_ids": read.ids,
            "attention_mask": read.attention_mask,
            "token_type_ids": read.type_ids,
        }
        given = {
            name: np.array([row], np.int64) for name, row in rows.items() if name in self._inputs
        }
        output: Any = self._session.run(None, given)[0][0]
        if output.ndim > 1:  # a vector for each word
            output = output[0] if self._is_cls else output.mean(axis=0, dtype=np.float64)
        vector: NDArray[np.float32] = output.astype(np.float32)
        return vector
