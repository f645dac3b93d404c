"""The shape of the dbt project, over what `dbt parse` says of it. No Spark."""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from packaging.requirements import Requirement

from dbt_debezium.package_files import EXAMPLE, FIRST, PACKAGE, PAGES, package_files
from dbt_debezium.scaffold.captured import PUBLIC_NAMES
from dbt_debezium.settings import DEFAULTS

REPOSITORY = Path(__file__).parents[1]
PREFIXES = {
    "current": ("cur_",),
    "history": (),
    "marts": (),
    "staging": ("stg_",),
    "proof": ("int_", "proof", "commit", "partition_progress", "settled_unit"),
    "rows": ("int_",),
    "outcomes": ("held_", "message_count", "quarantined_message"),
    "tables": ("int_", "schema_change", "table_"),
}
"""What the names of the models in a folder begin with; nothing when their tables name them."""
KEY_TESTS = {"is_unique_by", "versions_do_not_overlap"}
BANNED_COLUMNS = {"data", "info", "record", "tmp", "final", "base", "ts", "seq", "idx", "rn"}
PARSE = """
import sys
from dbt.cli.main import dbtRunner
result = dbtRunner().invoke(["--warn-error", "parse", "--no-partial-parse", *sys.argv[1:]])
sys.exit(0 if result.success else str(result.exception))
"""


@cache
def manifest(target: Path) -> dict[str, Any]:
    arguments = ["--target-path", str(target), "--log-path", str(target)]
    subprocess.run([sys.executable, "-c", PARSE, *arguments], cwd=REPOSITORY, check=True)
    loaded: dict[str, Any] = json.loads((target / "manifest.json").read_text())
    return loaded


@pytest.fixture(scope="session")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return manifest(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="session")
def models(parsed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    nodes = parsed["nodes"].values()
    return {node["name"]: node for node in nodes if node["resource_type"] == "model"}


def test_every_module_of_tests_has_a_name_of_its_own() -> None:
    """pytest imports them by their names alone, and can collect but one of two."""
    folders = [REPOSITORY / one for one in ("python/tests", "demo", "tests")]
    paths = [path for one in folders for path in one.rglob("test_*.py")]
    assert [name for name, count in Counter(one.name for one in paths).items() if count > 1] == []


def test_every_model_begins_with_its_grain(models: dict[str, Any]) -> None:
    assert [name for name, node in models.items() if not grain_is_said(node)] == []


def grain_is_said(node: dict[str, Any]) -> bool:
    return bool(re.match(r"One row per [a-z]", node["description"]))


def test_every_model_has_one_tested_key(parsed: dict[str, Any], models: dict[str, Any]) -> None:
    tested = defaultdict(list)
    for node in parsed["nodes"].values():
        if node.get("test_metadata", {}).get("name") in KEY_TESTS:
            tested[node["attached_node"]].append(node["test_metadata"]["name"])
    tests = {node["name"] for node in parsed["nodes"].values() if node["resource_type"] == "test"}
    for name, node in models.items():
        elsewhere = node["config"]["meta"].get("tested_in")
        assert elsewhere is None or elsewhere in {*models, *tests}, name
        assert len(tested[node["unique_id"]]) == (elsewhere is None), name


def test_every_model_is_named_after_its_folder(models: dict[str, Any]) -> None:
    for name, node in models.items():
        folder = Path(node["path"]).parent.name
        assert name.startswith(PREFIXES[folder] or name), node["path"]
        assert name.endswith("_history") == (folder == "history"), node["path"]


MODELS, LINES = 34, 2_720
"""Between landing and the histories, all of them together: a rule that is added asks what it makes
unnecessary. No model is cut to a length."""


def test_the_models_in_front_of_the_histories_are_few() -> None:
    folders = [REPOSITORY / "models" / folder for folder in ("staging", "transactions")]
    files = [path for folder in folders for path in folder.rglob("*.sql")]
    assert len(files) <= MODELS
    assert sum(len(path.read_text().splitlines()) for path in files) <= LINES


def test_every_column_is_described(models: dict[str, Any]) -> None:
    for name, node in models.items():
        assert node["columns"], name
        for column in node["columns"].values():
            assert column["description"].strip(), f"{name}.{column['name']}"
            assert column["name"] not in BANNED_COLUMNS, f"{name}.{column['name']}"


def test_every_doc_block_is_used(parsed: dict[str, Any]) -> None:
    used = "".join(path.read_text() for path in (REPOSITORY / "models").rglob("*.yml"))
    blocks = [doc["name"] for doc in parsed["docs"].values() if doc["package_name"] != "dbt"]
    assert [block for block in blocks if f"doc('{block}')" not in used] == []


def test_what_readers_query_has_a_contract(models: dict[str, Any]) -> None:
    for node in models.values():
        if Path(node["path"]).parts[0] == "marts" or "current" in Path(node["path"]).parts:
            assert node["config"]["contract"]["enforced"], node["name"]
            assert all(column["data_type"] for column in node["columns"].values())


def steps(models: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The models that are the same for every source."""
    folders = {"staging", "transactions"}
    return {name: node for name, node in models.items() if Path(node["path"]).parts[0] in folders}


def test_the_models_of_the_package_are_in_its_group_and_hidden_but_for_public_ones(
    models: dict[str, Any],
) -> None:
    for name, node in steps(models).items():
        assert node["config"]["group"] == "dbt_debezium", name
        assert node["docs"]["show"] == (name in PUBLIC_NAMES), name


def test_the_graph_of_a_table_or_mart_of_a_user_has_fewer_than_25_nodes_of_ours(
    parsed: dict[str, Any], models: dict[str, Any]
) -> None:
    """dbt's site draws what a model is made from: hidden and ephemeral models and sources, too."""
    ours = {node["unique_id"] for node in steps(models).values()}
    for name in models.keys() - steps(models).keys():
        drawn, ahead = set[str](), [models[name]["unique_id"]]
        while ahead:
            parents = {*parsed["parent_map"].get(ahead.pop(), [])} - drawn
            drawn |= parents
            ahead += parents
        shown = {one for one in drawn if one in ours or one.startswith(("source.", "seed."))}
        assert 10 < len(shown) < 25, (name, sorted(shown))


def test_a_model_is_private_unless_macros_or_models_of_a_project_refer_to_it(
    models: dict[str, Any],
) -> None:
    folders = [REPOSITORY / "macros", REPOSITORY / "tests" / "generic"]
    files = [path for folder in folders for path in folder.rglob("*.sql")]
    files.remove(REPOSITORY / "macros" / "hooks" / "run_has.sql")  # only models of ours call it
    named = {name for path in files for name in re.findall(r"\bref\('(\w+)'\)", path.read_text())}
    expected = {name: "protected" if name in named else "private" for name in steps(models)}
    assert {name: node["config"]["access"] for name, node in steps(models).items()} == expected


def test_the_key_of_a_current_table_is_known_to_whoever_reads_the_manifest(
    models: dict[str, Any],
) -> None:
    for name, node in models.items():
        if Path(node["path"]).parent.name == "current":
            (key,) = (one["columns"] for one in node["constraints"] if one["type"] == "primary_key")
            assert sorted(node["primary_key"]) == sorted(key), name


def test_every_mart_has_an_exposure(parsed: dict[str, Any], models: dict[str, Any]) -> None:
    exposed = {one for it in parsed["exposures"].values() for one in it["depends_on"]["nodes"]}
    marts = [one["unique_id"] for one in models.values() if Path(one["path"]).parts[0] == "marts"]
    assert [one for one in marts if one not in exposed] == []


def test_every_singular_test_says_what_to_do(parsed: dict[str, Any]) -> None:
    singular = {
        node["name"]: node["description"]
        for node in parsed["nodes"].values()
        if node["resource_type"] == "test" and "test_metadata" not in node
    }
    assert singular
    for name, description in singular.items():
        assert description.startswith("A returned row is "), name
        assert "When this fails: " in description, name


def settings() -> set[str]:
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())
    return set(project["vars"])


@pytest.mark.parametrize("setting", sorted(settings()))
def test_every_setting_is_used(setting: str) -> None:
    files = [*(REPOSITORY / "models").rglob("*.sql"), *(REPOSITORY / "macros").rglob("*.sql")]
    reads = [path for path in files if f"var('{setting}')" in path.read_text()]
    commands = (REPOSITORY / "python" / "dbt_debezium").rglob("*.py")
    reads += [path for path in commands if f"settings.{setting}" in path.read_text()]
    assert reads


def test_the_package_gives_each_setting_its_default() -> None:
    project = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())
    assert project["vars"] == msgspec.structs.asdict(DEFAULTS)


@pytest.mark.parametrize("setting", sorted(settings()))
def test_every_setting_is_documented(setting: str) -> None:
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]
    written = [page for page in pages if page.exists()]
    if not written:
        pytest.skip("no README and no page in docs")
    assert any(f"`{setting}`" in page.read_text() for page in written)


@pytest.mark.fault(78)
def test_no_model_asks_the_clock() -> None:
    """A run is told by its number, so that a clock that jumps changes nothing."""
    assert (
        names_of_sql(
            r"\b(current_(?!(rows|mark)\b)\w+|now|localtimestamp|unix_timestamp|run_started_at)\b"
        )
        == set()
    )


def test_no_window_ends_with_its_partition() -> None:
    """Spark reads such a frame anew for each row, so its cost is the square of what has landed.

    `lead(..) ignore nulls` finds the next value in one pass; so does any frame in reverse order.
    """
    assert names_of_sql(r"\bunbounded\s+following\b") == set()


def test_no_statement_joins_the_candidate_to_find_its_rows() -> None:
    """Iceberg leaves out files by a number that is known when Spark plans, not by a join."""
    assert names_of_sql(r"\bjoin\s+candidate\b|\bas\s+candidate\b") == set()


def names_of_sql(pattern: str) -> set[str]:
    """The names of our SQL files that match, comments left out."""
    comment = re.compile(r"--[^\n]*|\{#.*?#\}", re.DOTALL)
    folders = [REPOSITORY / "models", REPOSITORY / "macros", REPOSITORY / "tests"]
    files = [path for folder in folders for path in folder.rglob("*.sql")]
    assert files
    return {path.name for path in files if re.search(pattern, comment.sub("", path.read_text()))}


@pytest.mark.fault(79)
def test_what_runs_write_stays_out_of_git_and_secrets_out_of_profiles() -> None:
    ignored = (REPOSITORY / ".gitignore").read_text().splitlines()
    assert {"lake/", "target/", "logs/"} <= set(ignored)
    secret = re.compile("password|passwd|secret|token|credential|access.?key", re.IGNORECASE)
    profiles = yaml.safe_load((REPOSITORY / "profiles.yml").read_text())
    settings = {
        name: str(value)
        for output in profiles["dbt_debezium"]["outputs"].values()
        for name, value in (output | output["server_side_parameters"]).items()
    }
    told = {name for name, value in settings.items() if secret.search(name) and value}
    assert {name for name in told if "env_var" not in settings[name]} == set()


@pytest.mark.fault(82)
@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-next.txt",
        "requirements-release.txt",
        "requirements-lowest.txt",
        "requirements-highest.txt",
    ],
)
def test_every_package_is_pinned_by_its_content(name: str) -> None:
    packages = re.split(r"\n(?=\S)", (REPOSITORY / name).read_text())
    pinned = [package for package in packages if not package.startswith("#")]
    assert pinned
    for package in pinned:
        assert re.match(r"[\w.-]+(\[[\w,-]+\])?==", package), package
        assert "--hash=sha256:" in package, package
    assert "--require-hashes" in (REPOSITORY / "Makefile").read_text()


@pytest.mark.fault(82)
def test_no_jar_is_fetched_at_run_time() -> None:
    profiles = yaml.safe_load((REPOSITORY / "profiles.yml").read_text())
    names = {
        name
        for output in profiles["dbt_debezium"]["outputs"].values()
        for name in output["server_side_parameters"]
    }
    assert "spark.driver.extraClassPath" in names
    assert {name for name in names if re.search("packages|repositories|ivy", name)} == set()


def test_workflows_run_actions_by_their_commit_and_may_only_read() -> None:
    for workflow in (REPOSITORY / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text()
        uses = re.findall(r"uses: (.*)", text)
        assert uses
        for one in uses:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_dependabot_looks_at_every_file_of_pinned_packages() -> None:
    settings = yaml.safe_load((REPOSITORY / ".github" / "dependabot.yml").read_text())
    pip, *_ = (one for one in settings["updates"] if one["package-ecosystem"] == "pip")
    folders = {
        f"/{file.parent.relative_to(REPOSITORY)}".removesuffix(".")
        for pattern in ("*requirements*.txt", "[!.]*/**/*requirements*.txt", ".github/**/*.txt")
        for file in REPOSITORY.glob(pattern)
        if "--hash=" in file.read_text()
    }
    assert {*pip["directories"]} == folders


def test_an_image_is_built_from_everything_that_a_wheel_carries() -> None:
    """BuildKit reads this file beside the Dockerfile; a later line counts more."""
    lines = (REPOSITORY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    assert lines[1] == "*"
    allowed = [line[1:] for line in lines if line.startswith("!")]
    patterns = (*PACKAGE, *EXAMPLE, *FIRST, *PAGES, "python/dbt_debezium/**/*.py", "setup.py")
    files = [*package_files(REPOSITORY, patterns), Path("pyproject.toml"), Path("requirements.txt")]
    assert len(files) > 300
    for file in files:
        places = [file, *file.parents]
        assert any(place.match(one) for place in places for one in allowed), file


def test_an_image_pins_its_packages_by_what_pip_takes_for_constraints() -> None:
    """A line of requirements.txt may have extras, and pip refuses a constraint with some."""
    text = (REPOSITORY / "docker" / "Dockerfile").read_text()
    command = re.search(r"sed .* requirements\.txt", text)
    assert command
    shown = subprocess.run(
        ["sh", "-c", command[0]], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    constraints = [Requirement(line) for line in shown.splitlines() if line.strip()]
    pinned = re.findall(
        r"(?m)^([A-Za-z0-9._-]+)[^ ]*==", (REPOSITORY / "requirements.txt").read_text()
    )
    assert [one.name for one in constraints] == pinned
    assert not any(one.extras for one in constraints)
