"""The targets of profiles.yml, as dbt renders them: without dbt where that is possible."""

import contextvars
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import jinja2
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.project_text import text_of
from dbt_debezium.yaml_loader import LOADER

_ENVIRONMENT: Final = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
"""As closed as dbt's own."""


def target_without_dbt(target: str | None, folder: str = "") -> dict[str, Any] | None:
    """`schema` and `server_side_parameters` of a target; None if only dbt can render them.

    Args:
        folder: of profiles.yml, where it is not that of the environment or the project.
    """
    profiles = Path(folder or os.environ.get("DBT_PROFILES_DIR") or project_dir())
    return rendered_target(project_dir(), profiles / "profiles.yml", target)


def rendered_target(project: Path, profiles: Path, target: str | None) -> dict[str, Any] | None:
    """As `target_without_dbt`, of a project and a profiles.yml.

    dbt takes a second to render a profile, and jinja2 20 ms.
    """
    try:
        name = _yaml_of(project / "dbt_project.yml")["profile"]
        profile = _yaml_of(profiles)[name]
        target = target or os.environ.get("DBT_TARGET") or _rendered(profile["target"])
        output = profile["outputs"][target]
        settings = output["server_side_parameters"]
        return {
            "schema": _rendered(output["schema"]),
            "server_side_parameters": {key: _rendered(str(one)) for key, one in settings.items()},
        }
    except (OSError, LookupError, TypeError, AttributeError, ValueError):
        return None
    except (yaml.YAMLError, jinja2.TemplateError):
        return None


def _yaml_of(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), Loader=LOADER)


def _rendered(text: str) -> str:
    if "{" not in text and "\n" not in text:
        # Jinja compiles each text, which takes a command 30 ms in all.
        return text
    return _ENVIRONMENT.from_string(text).render(env_var=_env_var)


def _env_var(name: str, *default: str) -> str:
    return os.environ[name] if name in os.environ or not default else default[0]


def _check_dbt(target: str | None) -> None:
    """Refuse a target that only dbt can read, where it is not installed.

    Raises:
        DebeziumError: it is not.
    """
    if find_spec("dbt") is None and target_without_dbt(target) is None:
        named = f"the target '{target}'" if target else "the target"
        raise DebeziumError(
            f"profile: {named} of {project_dir() / 'profiles.yml'} is not there, or only dbt can "
            "read it; correct its name, or pip install 'dbt-debezium[spark]'"
        )


def read_target(target: str | None = None) -> dict[str, Any]:
    """A target of the profile, rendered as dbt renders it.

    Raises:
        DebeziumError: there is no profiles.yml, or it has no such profile or target.
    """
    _check_dbt(target)
    from dbt.clients.yaml_helper import load_yaml_text
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtBaseException

    project = project_dir()
    folder = Path(os.environ.get("DBT_PROFILES_DIR") or project)
    if (folder / "profiles.yml").is_file():
        text_of(folder / "profiles.yml")
    try:
        profiles = read_profile(str(folder))
        if not profiles:
            raise DebeziumError(
                f"profile: no profiles.yml in {folder}; set DBT_PROFILES_DIR to the folder it is in"
            )
        settings = load_yaml_text((project / "dbt_project.yml").read_text()) or {}
        name = settings.get("profile")
        if name not in profiles:
            raise DebeziumError(
                f"profile: {folder / 'profiles.yml'} has no profile '{name}'; "
                f"dbt_project.yml names it, and there is: {', '.join(profiles)}"
            )
        target = target or os.environ.get("DBT_TARGET") or None
        outputs = profiles[name].get("outputs") or {}
        if target and target not in outputs:
            raise DebeziumError(
                f"profile: {folder / 'profiles.yml'} has no target '{target}'; "
                f"there is: {', '.join(outputs)}"
            )
        # env_var reads the environment from dbt's context; a run of dbt's later brings its own.
        context = contextvars.copy_context()
        context.run(set_invocation_context, os.environ)
        _, output = context.run(
            Profile.render_profile, profiles[name], name, target, ProfileRenderer({})
        )
    except DbtBaseException as error:
        sentence = " ".join(str(error).split())
        raise DebeziumError(f"profile: {folder / 'profiles.yml'}: {sentence}") from error
    except OSError as error:
        raise DebeziumError(f"profile: {error.filename}: {error.strerror}") from error
    rendered: dict[str, Any] = output
    return rendered
