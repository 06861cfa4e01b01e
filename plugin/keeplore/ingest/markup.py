"""HTML, XML and PDF → markdown. Their parsers are large and take text of strangers, so this runs
confined.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from keeplore.errors import SourceRefused
from keeplore.ingest.decode import charset_of, decoded, library_missing
from keeplore.ingest.document_body import Extracted
from keeplore.ingest.json_outline import outline, title_in

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement
    from pypdf import PdfReader

MAX_PAGES = 5_000  # of a PDF
_SAMPLE = 2_048  # bytes of a page in which it names its encoding
_DECLARED = re.compile(r"\A\s*<\?xml[^>]{0,500}\?>")
_STYLED_AWAY = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|"
    r"!|$)|font-size:0(?:\.0+)?(?:[a-z%;!]|$)"
    r"|(?:left|top|text-indent):-\d{3,}|clip(?:-path)?:(?:rect|inset|circle|polygon)",
    re.IGNORECASE,
)
# what markdown need not escape within a word, and what no secret, name or search would be
# recognised with
_ESCAPED = re.compile(r"\\(?=_)|(?<=[^\s\\])\\(?=[*~])")
_NEVER_SHOWN = ("head", "template", "noscript", "dialog", "script", "style")


def from_html(data: bytes, content_type: str) -> Extracted:
    """The main content of a page; what its reader would not see is left out, as far as the page
    itself says so.
    """
    try:
        import trafilatura  # here, as lxml and pypdf below: it costs 0.3 s
    except ImportError:
        raise library_missing("HTML", "pages") from None
    stated = charset_of(content_type) or charset_of(data[:_SAMPLE].decode("latin-1"))
    page = _page(decoded(data, stated))
    title = page.findtext(".//title") or ""
    _drop_hidden(page)
    found = trafilatura.extract(
        page,
        output_format="markdown",
        include_formatting=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    text = _ESCAPED.sub("", found) if found else trafilatura.html2txt(page)
    return Extracted(title, text)


def _drop_hidden(page: HtmlElement) -> None:
    """Take out of a page what its reader would not see."""
    for element in filter(_is_hidden, [*page.iter()]):
        if element.getparent() is not None:
            element.drop_tree()


def _page(text: str) -> HtmlElement:
    """The tree of an HTML text. Raises SourceRefused."""
    from lxml import etree, html  # here, as above

    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(_DECLARED.sub("", text), parser=parser)
    except (etree.LxmlError, ValueError) as e:
        raise SourceRefused(f"that is no HTML: {e}", "Save it as text") from e


def _is_hidden(element: Any) -> bool:
    if not isinstance(element.tag, str):
        return False
    if (
        element.tag in _NEVER_SHOWN
        or "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
    ):
        return True
    style = re.sub(r"/\*.*?\*/|\s+", "", element.get("style", ""))
    return bool(style and _STYLED_AWAY.search(style))


def from_xml(data: bytes, content_type: str) -> Extracted:
    """The values of an XML file. Nothing outside of it is loaded, and its entities are not
    expanded.
    """
    root = _root(data, charset_of(content_type))
    inside = _xml_value(root)
    title = title_in(inside) or title_in(next(iter(_mappings(inside)), {}))
    return Extracted(title, outline({_name(root.tag): inside}))


def _root(data: bytes, encoding: str) -> _Element:
    """The root of an XML file. Raises SourceRefused."""
    try:
        from lxml import etree  # here, as above
    except ImportError:
        raise library_missing("XML", "pages") from None
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding=encoding or None,
    )
    try:
        return etree.fromstring(data, parser=parser)
    except (etree.LxmlError, LookupError, ValueError) as e:
        raise SourceRefused(
            f"that is no XML: {e}", "Mend it, or save it as text"
        ) from e


def _xml_value(element: _Element) -> Any:
    """A text, or what it holds by name; an element that mixes text with others is a text."""
    children = list(element)
    words = " ".join("".join(element.itertext()).split())
    held: dict[str, Any] = {_name(key): value for key, value in element.attrib.items()}
    if not children or _is_mixed(element, children):
        return {**held, "text": words} if held and words else held or words
    inside = ((_name(child.tag), _xml_value(child)) for child in children)
    return _by_name((*held.items(), *inside))


def _is_mixed(element: _Element, children: list[_Element]) -> bool:
    """Whether an element has text beside the elements in it."""
    return bool((element.text or "").strip()) or any(map(_is_text, children))


def _by_name(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The value of each name, a list where it has several."""
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {
        name: found if len(found) > 1 else found[0] for name, found in values.items()
    }


def _is_text(child: _Element) -> bool:
    """Does text follow an element, or is it an entity that was not expanded? That has a function
    for a tag.
    """
    return bool((child.tail or "").strip()) or not isinstance(child.tag, str)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    held = value.values() if isinstance(value, Mapping) else ()
    return [item for item in held if isinstance(item, Mapping)]


def _name(tag: Any) -> str:
    """The name of an element without its namespace."""
    return str(tag).rpartition("}")[2]


def from_pdf(data: bytes, _content_type: str) -> Extracted:
    """The text of a PDF, page by page."""
    try:
        from pypdf import PdfReader  # here, as above
    except ImportError:
        raise library_missing("PDF", "pdf") from None
    try:
        reader = PdfReader(io.BytesIO(data))
        _check_readable(reader)
        pages = [page.extract_text().strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else ""
    except SourceRefused:
        raise
    except Exception as e:  # pypdf has no one class for all that a broken file leads to
        raise SourceRefused(
            f"that PDF cannot be read: {e}",
            "Print it to a PDF anew, or save it as text",
        ) from e
    return Extracted(str(title or ""), "\n\n".join(_by_page(pages)))


def _by_page(pages: list[str]) -> Iterator[str]:
    """The texts below headings with the number of their page."""
    for number, text in enumerate(pages, 1):
        if text:
            yield f"## Page {number}\n\n{text}"


def _check_readable(reader: PdfReader) -> None:
    """Refuse (SourceRefused) a file that is locked, or too long."""
    from pypdf import PasswordType  # here, as above

    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise SourceRefused("it is locked with a password", "Save a copy without one")
    if len(reader.pages) > MAX_PAGES:
        raise SourceRefused(f"it has more than {MAX_PAGES} pages", "Give a part of it")


READERS: Mapping[str, Callable[[bytes, str], Extracted]] = {
    "html": from_html,
    "xml": from_xml,
    "pdf": from_pdf,
}
