"""What people see of a text: of Markdown in a browser."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


class Page(HTMLParser):
    """The text of a page, and its elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.elements: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)


def shown_text(markdown: str) -> str:
    """The text of some Markdown, which must be one paragraph without anything else."""
    page = Page()
    page.feed(MARKDOWN.render(markdown))
    page.close()
    assert page.elements == ["p"], (markdown, page.elements)
    return page.text.removesuffix("\n")
