"""dbt's documentation site of names and comments that attack, opened in a browser. No Spark."""

import html
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from attacks import COLUMNS, COMMENTS, everything
from browser import opened
from dbt.task.docs import DOCS_INDEX_FILE_PATH

from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.project_models import plan_scaffold
from dbt_debezium.scaffold.tables import observe

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[1]
DRIVER = """<!doctype html><title>driver</title><pre id=answer></pre><script>
const asked = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const wait = ms => new Promise(done => setTimeout(done, ms));
addEventListener('load', async () => {
  const frame = document.createElement('iframe');
  frame.src = asked.page;
  document.body.append(frame);
  const all = selector => [...frame.contentDocument.querySelectorAll(selector)];
  const input = () => all('.search input, input[ng-model*=query]')[0];
  for (let tries = 0; tries < 200 && !(frame.contentDocument && input()); tries++) await wait(200);
  const answer = {models: {}, results: {}};
  for (const id of asked.models) {
    frame.contentWindow.location.hash = '#!/model/' + id;
    await wait(1000);
    answer.models[id] = all('[marked]').map(one => one.textContent);
  }
  for (const query of asked.queries) {
    input().value = query;
    for (const name of ['input', 'change']) input().dispatchEvent(new Event(name, {bubbles: true}));
    await wait(2000);
    answer.results[query] = all('.result-body').length;
    answer.images = all('.sub-results img').length;
  }
  answer.title = document.title;
  document.getElementById('answer').textContent = JSON.stringify(answer);
});
</script>
"""
"""Opens pages of models and asks for words, and then shows what a person would see."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, as `make docs` makes it but for the types in the catalog."""
    folder = tmp_path_factory.mktemp("site")
    project = folder / "project"
    write_project(REPOSITORY, project, [], {})
    messages = everything(folder).messages
    tables = list(observe((one["topic"], one["key"], one["value"]) for one in messages))
    plan_scaffold(project, tables, []).write(project)
    places = {"DBT_DEBEZIUM_LAKE": folder / "lake", "DBT_DEBEZIUM_JARS": jars_dir().absolute()}
    dbt = str(Path(sys.executable).with_name("dbt"))
    with pytest.MonkeyPatch.context() as patched:
        for name, path in places.items():
            patched.setenv(name, str(path))
        for arguments in (["docs", "generate", "--empty-catalog", "--no-compile"], ["parse"]):
            subprocess.run([dbt, "--quiet", *arguments], cwd=project, check=True)
    target = project / "target"
    (target / "driver.html").write_text(DRIVER)
    shutil.copy(DOCS_INDEX_FILE_PATH, target / "of_dbt.html")
    return target


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def shown(address: str, page: str, *models: str) -> tuple[dict[str, Any], str]:
    """What the driver has seen of a page, and what the browser has logged."""
    asked = json.dumps({"page": page, "models": models, "queries": ["script", "title", "document"]})
    url = f"{address}/driver.html#{quote(asked)}"
    document, log = opened(url, "--virtual-time-budget=120000")
    found = re.search(r'<pre id="answer">(.+?)</pre>', document, re.DOTALL)
    assert found, document[:1000] + log
    answer: dict[str, Any] = json.loads(html.unescape(found[1]))
    return answer, log


def test_no_script_of_a_name_or_a_comment_runs(address: str) -> None:
    """The log shows that there was one to run."""
    answer, log = shown(address, "index.html")
    assert answer["title"] == "driver"
    assert min(answer["results"].values()) > 0
    assert answer["images"] > 0
    assert "inline event handler violates the following Content Security Policy" in log


def test_without_our_page_one_does(address: str) -> None:
    assert shown(address, "of_dbt.html")[0]["title"] == "PWNED"


def test_people_read_comments_and_names_as_they_are(address: str) -> None:
    models = ["model.dbt_debezium.cols_history", "model.dbt_debezium.comments_history"]
    answer, _ = shown(address, "index.html", *models)
    names, comments = (answer["models"][model] for model in models)
    for name in COLUMNS:
        assert f"Column {name} of public.cols, as the source has it.\n" in names
    for comment in COMMENTS:
        assert f"{comment.removesuffix('.')}.\n" in comments
