"""The tools of `python -m pyaclnn`, as people and scripts call them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from python_support import run_python
from test_python_home import build_stranger

import pyaclnn
from pyaclnn import __main__
from pyaclnn._home import LIBRARIES
from pyaclnn.atb import OPERATIONS
from pyaclnn.tools import codes, doctor, explain, ops, products, rules

TOOL = "import runpy; runpy.run_module('pyaclnn', run_name='__main__', alter_sys=True)"
SHELLS = ("bash", "dash", "zsh")
#: No variable of ours or CANN's that the caller happens to have, but for the libraries.
CLEAN: dict[str, str | None] = {
    **dict.fromkeys(
        name
        for name in os.environ
        if name.startswith(("PYACLNN_", "ASCEND_", "ATB_", "ACL_")) and name != "PYACLNN_LIBDIR"
    ),
    "LD_LIBRARY_PATH": None,
    "COLUMNS": "200",
}


def tool(
    *arguments: str, environment: dict[str, str | None] | None = None, status: int | None = 0
) -> subprocess.CompletedProcess[str]:
    done = run_python(TOOL, *arguments, environment={**CLEAN, **(environment or {})})
    if status is not None:
        assert done.returncode == status, done.stdout + done.stderr
    return done


def as_json(*arguments: str, status: int = 0, **environment: str | None) -> Any:
    return json.loads(tool(*arguments, "--json", environment=environment, status=status).stdout)


@pytest.mark.parametrize("command", __main__.TOOLS)
def test_each_has_a_help(command: str) -> None:
    text = tool(command, "--help").stdout
    assert text.startswith("usage: python -m pyaclnn") and command in text
    assert re.search(rf"^ +{command}  +\w", tool("--help").stdout, re.MULTILINE)


def test_importing_the_package_loads_no_tool() -> None:
    code = "import sys, pyaclnn; print({'pyaclnn.tools', 'rich'} & set(sys.modules))"
    assert run_python(code).stdout == "set()\n"


def test_colour_is_for_terminals() -> None:
    assert "\x1b[" not in tool("ops").stdout
    shown = tool("ops", environment={"FORCE_COLOR": "1", "NO_COLOR": None, "TERM": "xterm"}).stdout
    assert "\x1b[32myes" in shown
    # No box of lines where the output cannot hold one.
    plain = tool("ops", environment={"PYTHONIOENCODING": "ascii"}).stdout
    assert plain.isascii() and "yes" in plain


# ---- run and env ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["ops", "env", "rules aclnnAdd", "explain 161002"])
def test_outputs_that_take_nothing(command: str) -> None:
    """One line instead of a traceback; nothing where there is no output at all."""
    call = f"{sys.executable} -m pyaclnn {command}"
    full = subprocess.run(["sh", "-c", f"{call} >/dev/full"], capture_output=True, text=True)
    assert full.returncode == 1
    assert full.stderr == "python -m pyaclnn: the output: No space left on device\n"
    closed = subprocess.run(["sh", "-c", f"{call} >&-"], capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")


def own_tree() -> Path:
    return Path(pyaclnn.home())


def test_run_finds_the_libraries() -> None:
    """The loader gets them by their bare names, before anything of ours is imported."""
    code = (
        "import ctypes, sys; assert 'pyaclnn' not in sys.modules; ctypes.CDLL('libatb.so'); "
        "print({l.split()[-1] for l in open('/proc/self/maps') if 'lib64/lib' in l})"
    )
    paths = set(re.findall(r"'([^']+)'", tool("run", "-c", code).stdout))
    ours = {str((own_tree() / f"lib64/lib{n}.so").resolve()) for n in LIBRARIES}
    assert ours <= paths


def test_run_passes_everything_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv[1:], sys.path[0], __name__); sys.exit(7)")
    done = tool("run", str(script), "--help", "-m", "a b", status=7)
    assert done.stdout == f"{['--help', '-m', 'a b']} {tmp_path} __main__\n"
    done = tool("run", "-W", "ignore", "-m", "platform", "--terse")
    assert done.stdout.startswith("Linux")


def test_run_passes_signals_on() -> None:
    done = tool("run", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)", status=None)
    assert done.returncode == -signal.SIGTERM


def test_run_is_the_same_process() -> None:
    """Who waits for it, or kills it, has the program itself."""
    own = {name: value for name, value in os.environ.items() if CLEAN.get(name, "") is not None}
    own["PYTHONPATH"] = str(Path(pyaclnn.__file__).resolve().parents[1])
    started = subprocess.Popen(
        [sys.executable, "-c", TOOL, "run", "-c", "import os; print(os.getpid())"],
        stdout=subprocess.PIPE, text=True, env=own,
    )  # fmt: skip
    assert int(started.communicate(timeout=60)[0]) == started.pid


def test_run_makes_errors_of_torch_npu_come_at_the_call() -> None:
    code = "import os; print(os.environ['TASK_QUEUE_ENABLE'])"
    assert tool("run", "-c", code).stdout == "0\n"
    assert tool("run", "-c", code, environment={"TASK_QUEUE_ENABLE": "2"}).stdout == "2\n"
    assert as_json("env")["TASK_QUEUE_ENABLE"] == "0"
    assert as_json("env", TASK_QUEUE_ENABLE="1")["TASK_QUEUE_ENABLE"] == "1"


def test_run_says_what_is_wrong_before_it_starts() -> None:
    done = tool("run", "-c", "print(1)", environment={"PYACLNN_NUM_THREADS": "0"}, status=1)
    assert done.stdout == "" and 'PYACLNN_NUM_THREADS is "0", must be 1 .. 256' in done.stderr


def test_help_is_what_there_is_without_a_command() -> None:
    assert tool().stdout == tool("--help").stdout


def test_run_without_a_program() -> None:
    assert "a script, -m module or -c code is missing" in tool("run", status=2).stderr


def test_run_twice_is_once() -> None:
    code = "import os; print(os.environ['LD_LIBRARY_PATH'])"
    once = tool("run", "-c", code).stdout
    twice = tool("run", "-c", f"import sys; sys.argv[1:] = ['run', '-c', {code!r}]; {TOOL}").stdout
    assert once == twice == f"{own_tree() / 'lib64'}\n"


def test_run_says_what_another_cann_means(tmp_path: Path) -> None:
    """Ours come first; what only the other one has would be mixed in."""
    stranger = build_stranger(tmp_path / "cann")
    shutil.copy(stranger, stranger.parent / "libhccl_of_theirs.so")
    code = "import ctypes; print(hasattr(ctypes.CDLL('libascendcl.so'), 'pyaclnnVersion'))"
    done = tool("run", "-c", code, environment={"LD_LIBRARY_PATH": str(stranger.parent)})
    assert done.stdout == "True\n"
    mine = own_tree() / "lib64/libascendcl.so"
    assert f"1. {mine} (this pyaclnn, LD_LIBRARY_PATH), 2. {stranger} (CANN" in done.stderr
    assert f"so {mine}" in done.stderr
    assert f"(libhccl_of_theirs.so) would still come from {stranger.parent}" in done.stderr
    assert tool("run", "-c", "").stderr == ""


def test_run_refuses_what_is_no_tree(tmp_path: Path) -> None:
    shutil.copytree(own_tree() / "lib64", tmp_path / "a:b/lib64", symlinks=True)
    environment: dict[str, str | None] = {"PYACLNN_LIBDIR": str(tmp_path / "a:b/lib64")}
    done = tool("run", "-c", "", environment=environment, status=1)
    assert done.stderr.startswith(f"pyaclnn run: {tmp_path}/a:b has no set_env.sh")
    shutil.copy(own_tree() / "set_env.sh", tmp_path / "a:b")
    done = tool("run", "-c", "", environment=environment, status=1)
    assert "contains a colon" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_env_is_set_env(shell: str) -> None:
    """What `env` prints and what set_env.sh exports, once or twice, are the same."""
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    python = f"'{sys.executable}' -c \"{TOOL}\""
    scripts = {
        "sourced": f". '{own_tree()}/set_env.sh'",
        "evaluated": f'eval "$({python} env)"',
        "twice": f'eval "$({python} env)"\neval "$({python} env)"',
    }
    own = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/usr/first:/it's $HOME"}
    own["PYTHONPATH"] = str(Path(pyaclnn.__file__).resolve().parents[1])
    needed = re.compile("PYACLNN_LIBDIR|LD_PRELOAD|[A-Z]+SAN_OPTIONS")
    own |= {name: value for name, value in os.environ.items() if needed.fullmatch(name)}
    printed = {}
    for name, script in scripts.items():
        done = subprocess.run(
            [path, "-euc", f"{script}\nexec env -0"], env=own, capture_output=True, text=True
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
        entries = [e for e in done.stdout.split("\0") if not re.match("_=|SHLVL=|PWD=|OLDPWD=", e)]
        printed[name] = sorted(entries)
    assert printed["sourced"] == printed["evaluated"] == printed["twice"]
    assert f"LD_LIBRARY_PATH={own_tree()}/lib64:/usr/first:/it's $HOME" in printed["sourced"]
    assert f"ASCEND_HOME_PATH={own_tree()}" in printed["sourced"]


def test_env_names_what_is_there() -> None:
    values = as_json("env")
    assert {"ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ATB_HOME_PATH", "PATH"} <= set(values)
    assert values.pop("TASK_QUEUE_ENABLE") == "0"
    for name, value in values.items():
        assert os.path.isdir(value.split(":")[0]), name


# ---- doctor --------------------------------------------------------------------------------------


def test_doctor_is_content() -> None:
    report = as_json("doctor")
    assert report["problems"] == []
    assert report["version"] == pyaclnn.__version__ and report["home"] == pyaclnn.home()
    assert re.fullmatch(rf"{re.escape(pyaclnn.__version__)}-[0-9a-f]{{16}}", report["build"])
    assert report["settings"]["isa_levels"] == list(pyaclnn.isa_levels())
    assert report["settings"]["product"] == "atlas-a2"
    assert report["self_test"]["passed"] and 0 < report["self_test"]["max_error"] < 1e-3
    for path in report["opened"].values():
        assert Path(path).samefile(own_tree() / "lib64" / Path(path).name)
    text = tool("doctor").stdout
    assert "all is well" in text and "PROBLEM" not in text and "\x1b" not in text


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        (
            "PYACLNN_THREADS",
            "2",
            r"THREADS=2: unknown variable; did you mean PYACLNN_NUM_THREADS\?",
        ),
        ("PYACLNN_PRODUKT", "x", r"PRODUKT=x: unknown variable; did you mean PYACLNN_PRODUCT\?"),
        ("PYACLNN_PRODUCT", "x", r'loading: environment variable PYACLNN_PRODUCT is "x", must be'),
        ("PYACLNN_NUM_THREADS", "0", r'PYACLNN_NUM_THREADS is "0", must be 1 .. 256'),
    ],
)
def test_doctor_finds_bad_variables(variable: str, value: str, sentence: str) -> None:
    (problem,) = as_json("doctor", status=1, **{variable: value})["problems"]
    assert re.search(sentence, problem)


def test_doctor_tells_what_variables_do() -> None:
    report = as_json(
        "doctor", PYACLNN_STREAM="lazy", PYACLNN_PRODUCT="Ascend310P3", ASCEND_OPP_PATH="/cann/opp",
        ATB_WORKSPACE="1", PYACLNN_ISA="", PYACLNN_NUM_THREADS="1",
    )  # fmt: skip
    effects = {each["name"]: each["effect"] for each in report["environment"]}
    assert "how streams run" in effects["PYACLNN_STREAM"]
    assert effects["ATB_WORKSPACE"] is None
    settings = report["settings"]
    assert (settings["stream_mode"], settings["threads"]) == ("lazy", 1)
    assert (settings["product"], settings["soc"]) == ("atlas-310p", "Ascend310P3")
    notes = "\n".join(report["notes"])
    for part in ("OPP_PATH=/cann/opp: not this tree (", "ATB_WORKSPACE=1: pyaclnn", "ISA is empty"):
        assert part in notes


def test_doctor_finds_another_cann(tmp_path: Path) -> None:
    stranger = build_stranger(tmp_path / "cann")
    behind = f"{own_tree() / 'lib64'}:{stranger.parent}"
    report = as_json("doctor", LD_LIBRARY_PATH=behind)
    assert [(each["maker"], each["ours"]) for each in report["search"]][:2] == [
        ("pyaclnn", True),
        ("CANN", False),
    ]
    assert any(str(stranger) in note for note in report["notes"])
    report = as_json("doctor", status=1, LD_LIBRARY_PATH=str(stranger.parent))
    (problem,) = report["problems"]
    assert f"so {stranger}" in problem and "pyaclnn run" in problem


def distributions(folder: Path, versions: dict[str, str]) -> str:
    for name, version in versions.items():
        place = folder / f"{name}-{version}.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    return str(folder)


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"torch": "2.12.1+cpu", "torch_npu": "2.13.0"}, "do not go together.* torch==2.13.0"),
        ({"torch": "2.7.1", "torch_npu": "2.7.1.post2"}, None),
        ({"torch": "2.9.0+cpu", "torch_npu": "2.9.0"}, None),
    ],
)
def test_doctor_looks_at_torch(
    tmp_path: Path, versions: dict[str, str], sentence: str | None
) -> None:
    code = f"import sys; sys.path.insert(0, {distributions(tmp_path, versions)!r}); {TOOL}"
    done = run_python(code, "doctor", "--json", environment=CLEAN)
    report = json.loads(done.stdout)
    assert {name: report["packages"][name] for name in versions} == versions
    about = [problem for problem in report["problems"] if problem.startswith("torch:")]
    assert len(about) == (sentence is not None)
    assert sentence is None or re.search(sentence, about[0])
    # Whether its libraries are there is looked at, too.
    assert "libhccl.so" in report["opened"]
    missing = [name for name, path in report["opened"].items() if path is None]
    assert bool(missing) == any(problem.startswith("loader:") for problem in report["problems"])


def test_doctor_finds_a_mixture(tmp_path: Path) -> None:
    lib64 = tmp_path / "lib64"
    shutil.copytree(own_tree() / "lib64", lib64)
    shutil.copy(own_tree() / "set_env.sh", tmp_path)
    library = lib64 / "libnnopbase.so"
    data = library.read_bytes()
    (build,) = set(re.findall(rb"\d+\.\d+\.\d+-[0-9a-f]{16}(?=\0)", data))
    library.write_bytes(data.replace(build, build[:-1] + (b"0" if build[-1:] != b"0" else b"1")))
    done = tool("doctor", "--json", environment={"PYACLNN_LIBDIR": str(lib64)}, status=1)
    report = json.loads(done.stdout)
    assert report["build"] is None
    assert any("libraries of different builds" in problem for problem in report["problems"])


def test_release_numbers() -> None:
    assert doctor.release("2.7.1.post2") == doctor.release("2.7.1+cpu") == "2.7.1"
    assert doctor.release("2.8.0rc1") == "2.8.0"


# ---- ops, rules, explain -------------------------------------------------------------------------


def test_products_are_the_libraries() -> None:
    with pytest.raises(pyaclnn.AclInvalidError) as refused:
        pyaclnn.set_product("nothing")
    assert ", ".join(products.PRODUCTS) in str(refused.value)
    assert set(products.TITLES) == set(products.PRODUCTS)


def test_ops() -> None:
    found = {one["operator"]: one for one in as_json("ops")}
    assert set(OPERATIONS) < set(found)
    attention = found["aclnnIncreFlashAttention"]
    assert attention["products"] == ["atlas-a2", "atlas-a3", "ascend-950", "atlas-310p"]
    assert [name[-2:] for name in attention["versions"]] == ["on", "V2", "V3", "V4"]
    assert "ascend-950" not in found["ReshapeAndCacheOperation"]["products"]
    assert "aclnnIncreFlashAttention" in tool("ops").stdout
    # An operator of its own, whatever its name ends in.
    assert found["aclnnGatherV2"]["versions"] == ["aclnnGatherV2"]
    assert as_json("rules", "aclnnGatherV2")


def rule_ids(listed: Iterable[dict[str, Any]]) -> list[str]:
    return [rule["rule"] for rule in listed]


@pytest.mark.parametrize(
    "operator", ["aclnnIncreFlashAttentionV4", "SelfAttentionOperation", "aclnnAdd"]
)
def test_rules(operator: str) -> None:
    listed = as_json("rules", operator)
    assert list(dict.fromkeys(rule_ids(listed))) == list(
        dict.fromkeys(rule_ids(pyaclnn.rules(operator)))
    )
    text = tool("rules", operator).stdout
    for rule in listed:
        assert re.search(rf"\b{rule['rule']} +{rule['code']}\b", text), rule
    silent = [rule for rule in listed if not rule["said"]]
    assert len(silent) < 0.05 * len(listed), f"nothing is said about {rule_ids(silent)}"


def test_rules_of_all_operators() -> None:
    """Those that no operator's list has are explained, too."""
    ids = set()
    for source in (Path(__file__).resolve().parents[2] / "native/nnopbase").glob("*.[ch]pp"):
        ids |= set(re.findall(r'"((?:EXEC|META)-[A-Z-]+)"', source.read_text()))
    assert ids == set(explain.GENERAL)
    assert "every operator" in tool("explain", "EXEC-LIVE").stdout


def test_rules_in_a_narrow_terminal() -> None:
    """Records instead of columns of a few letters; a file has no edge."""
    main, other = pty.openpty()
    own = {name: value for name, value in os.environ.items() if CLEAN.get(name, "") is not None}
    own |= {"PYTHONPATH": str(Path(pyaclnn.__file__).resolve().parents[1]), "COLUMNS": "80"}
    started = subprocess.Popen(
        [sys.executable, "-c", TOOL, "rules", "Add"], stdout=other, env=own | {"TERM": "dumb"}
    )
    os.close(other)
    text = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(main, 4096):
            text += part
    os.close(main)
    assert started.wait(60) == 0
    lines = text.decode().splitlines()
    assert "TENSOR-RANK  161002  self, other, alpha, out" in lines
    assert "    it says: at most 8 dimensions" in lines


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("IncreFlashAttentionV4", "aclnnIncreFlashAttention"),
        ("selfattention", "SelfAttentionOperation"),
        ("gatherv2", "aclnnGatherV2"),
        ("add", "aclnnAdd"),
    ],
)
def test_short_names_of_operators(short: str, name: str) -> None:
    assert as_json("rules", short) == as_json("rules", name)


def test_rules_of_a_product() -> None:
    small = {r["rule"]: r["said"] for r in as_json("rules", "aclnnIncreFlashAttention")}
    assert "65536" in small["LIMIT-B"]["atlas-a2"] and "256" in small["LIMIT-B"]["atlas-310p"]
    asked = rule_ids(as_json("rules", "aclnnIncreFlashAttention", "--product", "Ascend310P1"))
    assert {"LIMIT-GQA", "LIMIT-B"} <= set(asked)
    assert asked == rule_ids(as_json("rules", "aclnnIncreFlashAttention", "--product", "310P"))
    asked = rule_ids(as_json("rules", "aclnnIncreFlashAttention", "--product", "atlas-a2"))
    assert "LIMIT-B" in asked and "LIMIT-GQA" not in asked and "OP-PRODUCT" not in asked


def test_difference_of_products() -> None:
    command = ("rules", "aclnnIncreFlashAttention", "--diff")
    found = rule_ids(as_json(*command, "atlas-a2", "atlas-310p"))
    assert {"DTYPE-TUPLE", "LIMIT-B", "LIMIT-GQA"} <= set(found) and "PTR-QUERY" not in found
    assert as_json(*command, "atlas-a2", "Ascend910_9391") == []
    assert "no difference" in tool(*command, "atlas-a2", "atlas-a3").stdout
    text = tool(*command, "atlas-a2", "atlas-310p").stdout
    assert re.search(r"LIMIT-B +561002 +query +must be at most 65536 +must be at most 256", text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("rules", "IncreFlashAtention"),
            r"not an operator of pyaclnn \(did you mean aclnnIncreFlashAttention\?\)",
        ),
        (("rules", "SelfAttentionOperation", "--product", "A9"), "--product A9: .*atlas-a2"),
        (("explain", "999999"), "not a status code, rule or operator"),
        (("explain", "aclnnIncreFlashAttentionV4"), "needs --args FILE"),
        (
            ("explain", "SelfAtention", "--args", "-"),
            r"not an operator of pyaclnn \(did you mean SelfAttentionOperation\?\)",
        ),
        (("explain", "SelfAttention"), "SelfAttentionOperation needs --args FILE"),
        (
            ("explain", "aclnnSoftmax"),
            "'aclnnSoftmax' is not an operator of pyaclnn; .*pyaclnn ops",
        ),
        (("rules", "aclnnMatmul"), "'aclnnMatmul' is not an operator of pyaclnn; "),
        (("explain", "aclnnIncreFlashAttentionV4", "--args", "/nowhere"), "No such file"),
    ],
)
def test_clear_refusals(arguments: tuple[str, ...], sentence: str) -> None:
    done = tool(*arguments, status=1)
    assert re.search(sentence, done.stderr) and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["ops", "rules aclnnIncreFlashAttention", "explain 0"])
def test_libraries_that_do_not_load(command: str) -> None:
    done = tool(*command.split(), environment={"PYACLNN_PRODUCT": "x"}, status=1)
    assert done.stderr.startswith('pyaclnn: environment variable PYACLNN_PRODUCT is "x", must be')
    assert "pyaclnn doctor" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("subject", "name", "words"),
    [
        ("561002", "ACLNN_ERR_INNER_TILING_ERROR", "do not go together"),
        ("ACLNN_ERR_PARAM_NULLPTR", "ACLNN_ERR_PARAM_NULLPTR", "required pointer is null"),
        ("107002", "ACL_ERROR_RT_CONTEXT_NULL", "aclrtSetDevice"),
        ("8", "ERROR_INVALID_TENSOR_DIM", "dimension of a tensor"),
        ("207003", "ACL_ERROR_RT_AICORE_OVER_FLOW", "Aicore over flow"),
        ("0", "ACL_SUCCESS", "accepted"),
    ],
)
def test_explain_a_code(subject: str, name: str, words: str) -> None:
    text = tool("explain", subject).stdout
    assert name in text.splitlines()[0] and words in text
    assert name in as_json("explain", subject)["names"]


def test_every_code_is_explained() -> None:
    for name, number in codes.by_name().items():
        found = codes.find(str(number))
        assert found is not None and name in found.names and found.meaning


def test_explain_a_rule() -> None:
    (asked,) = as_json("explain", "ATTN-HEADS-RATIO")["asked"]
    assert (asked["operator"], asked["code"]) == ("aclnnIncreFlashAttention", 561002)
    text = tool("explain", "limit-b").stdout
    assert "on 310P" in text and "must be at most 256" in text
    text = tool("explain", "ELEM-BROADCAST").stdout
    assert "also of" in text and text.count("ELEM-BROADCAST") < 5


CALL: dict[str, Any] = {
    "query": "f16[2,8,1,64]",
    "key": "f16[2,2,1024,64]*1",
    "value": ["f16[2,2,1024,64]"],
    "actualSeqLengths": [5, 20],
    "numHeads": 8,
    "numKeyValueHeads": 2,
    "scaleValue": 0.125,
    "inputLayout": "BNSD",
    "attentionOut": "f16[2,8,1,64]",
}


def explained(tmp_path: Path, *more: str, **changes: Any) -> Any:
    path = tmp_path / "call.json"
    path.write_text(json.dumps({**CALL, **changes}))
    return as_json("explain", "aclnnIncreFlashAttentionV4", "--args", str(path), *more)


def test_explain_a_call(tmp_path: Path) -> None:
    answers = explained(tmp_path)["products"]
    assert {product: answer["code"] for product, answer in answers.items()} == {
        "atlas-a2": 0, "atlas-a3": 0, "ascend-950": 0, "atlas-310p": 0, "atlas-910": 161001,
    }  # fmt: skip
    answers = explained(tmp_path, numKeyValueHeads=3, actualSeqLengths=[5, 2000])["products"]
    first = answers["atlas-a2"]
    assert first["code"] == 561002 and "numKeyValueHeads: 3" in first["text"]
    assert {"ATTN-HEADS-RATIO", "SEQ-MAX"} <= {each["rule"] for each in first["findings"]}
    # Both data types are those of the other products.
    kinds = {
        "query": "bf16[2,8,1,64]",
        "key": "bf16[2,2,1024,64]*1",
        "value": "bf16[2,2,1024,64]*1",
    }
    answers = explained(tmp_path, **kinds, attentionOut="bf16[2,8,1,64]")["products"]
    assert answers["atlas-a2"]["code"] == 0 and answers["atlas-310p"]["code"] == 161002
    only = explained(tmp_path, "--product", "Ascend910B1")["products"]
    assert list(only) == ["atlas-a2"]


def test_explain_a_call_says_it_all(tmp_path: Path) -> None:
    path = tmp_path / "call.json"
    path.write_text(json.dumps({**CALL, "numKeyValueHeads": 3}))
    text = tool("explain", "aclnnIncreFlashAttentionV4", "--args", str(path)).stdout
    assert re.search(r"atlas-a2 +561002 +ACLNN_ERR_INNER_TILING_ERROR +ATTN-HEADS-RATIO", text)
    assert re.search(r"numKeyValueHeads +3 +numHeads \(8\) must be a multiple of it", text)


def test_described_views(tmp_path: Path) -> None:
    """Strides, offset, storage and format reach the operator."""
    view = "f16[2,8,1,64] @strided(1024,64,64,1)"
    assert explained(tmp_path, query=view)["products"]["atlas-a2"]["code"] == 0
    assert explained(tmp_path, query=f"{view}/[4096]+32")["products"]["atlas-a2"]["code"] == 0
    outside = explained(tmp_path, query=f"{view}/[1000]+32")["products"]["atlas-a2"]
    assert outside["findings"][0]["rule"] == "VIEW-BOUNDS"
    format_ = explained(tmp_path, query="f16[2,8,1,64]:NZ")["products"]["atlas-a2"]
    assert format_["findings"][0]["rule"] == "FORMAT-QUERY"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"numHead": 8}, r"numHead: no parameter .*\(did you mean numHeads\?\)"),
        ({"query": "f17[2,8]"}, "query: 'f17.*not a name of ACL"),
        ({"query": "[2,8]"}, "query: .*accepted is null or a tensor such as"),
        ({"query": "f16[2,8]*2"}, "query: .*a list where one tensor"),
        ({"query": "f16[2,8]@strided(1)"}, "query: .*a stride for each dimension"),
        ({"key": "f16[2,8]"}, "key: .*a list of tensors is wanted"),
        ({"numHeads": "x"}, "numHeads: "),
        ({"inputLayout": 3}, "inputLayout: 3: accepted is a text"),
        ({"actualSeqLengths": ["x"]}, "actualSeqLengths: "),
    ],
)
def test_described_wrongly(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "call.json"
    path.write_text(json.dumps({**CALL, **changes}))
    done = tool("explain", "aclnnIncreFlashAttentionV4", "--args", str(path), status=1)
    assert re.search(f"^explain: aclnnIncreFlashAttentionV4: {sentence}", done.stderr)


def test_explain_keeps_nothing(tmp_path: Path, no_leak: None) -> None:
    from pyaclnn.tools.described import Call, DescriptionError

    for changes in ({}, {"numKeyValueHeads": 3}):
        with Call("aclnnIncreFlashAttentionV4", {**CALL, **changes}) as call:
            call.ask()
    for wrong in ({"attentionOut": "x"}, {"value": ["f16[2]", "x"]}, {"nothing": 0}):
        with pytest.raises(DescriptionError):
            Call("aclnnIncreFlashAttentionV4", {**CALL, **wrong})


SELF_ATTENTION: dict[str, Any] = {
    "param": {
        "headNum": 4,
        "kvHeadNum": 2,
        "qkScale": 0.125,
        "calcType": "PA_ENCODER",
        "maskType": "MASK_TYPE_NORM",
    },
    "inTensors": {
        "query": "f16[48,4,64]",
        "key": "f16[48,2,64]",
        "value": "f16[48,2,64]",
        "mask": "f16[32,32]",
        "seqLen": [5, 32, 11],
    },
}


def atb_explained(tmp_path: Path, description: Any, status: int = 0) -> Any:
    path = tmp_path / "call.json"
    path.write_text(json.dumps(description))
    command = ("explain", "SelfAttentionOperation", "--args", str(path))
    return as_json(*command)["products"] if status == 0 else tool(*command, status=status).stderr


def test_explain_an_operation_of_atb(tmp_path: Path) -> None:
    answers = atb_explained(tmp_path, SELF_ATTENTION)
    said = {product: (one["code"], one["step"], one["rule"]) for product, one in answers.items()}
    assert said == {
        "atlas-a2": (0, None, None),
        "atlas-a3": (0, None, None),
        "ascend-950": (12, "CreateOperation", "ATB-PRODUCT"),
        "atlas-310p": (4, "Setup", "SA-MASK-COVERS"),
        "atlas-910": (4, "Setup", "SA-MASK-COVERS"),
    }
    assert answers["atlas-a2"]["workspace"] > 0 and answers["atlas-a2"]["findings"] == []
    in_order = {**SELF_ATTENTION, "inTensors": list(SELF_ATTENTION["inTensors"].values())}
    assert atb_explained(tmp_path, in_order)["atlas-a2"]["code"] == 0
    longer = {**SELF_ATTENTION["inTensors"], "seqLen": [5, 32, 12]}
    wrong = atb_explained(tmp_path, {**SELF_ATTENTION, "inTensors": longer})["atlas-a2"]
    assert (wrong["code"], wrong["rule"]) == (8, "SA-QUERY-ROWS") and "49" in wrong["text"]
    assert [each["rule"] for each in wrong["findings"]] == ["SA-QUERY-ROWS", "SA-KEY-ROWS"]
    wider = {**SELF_ATTENTION["inTensors"], "key": "f32[48,2,64]"}
    wrong = atb_explained(tmp_path, {**SELF_ATTENTION, "inTensors": wider})["atlas-a2"]
    assert wrong["step"] == "InferShape"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"param": {"headNum": "x"}}, r"param.headNum: 'x': .*accepted is a whole number"),
        ({"param": {"headNums": 1}}, r"param.headNums: .*did you mean headNum\?"),
        ({"param": {"calcType": "PAENCODER"}}, r"param.calcType: .*\(did you mean PA_ENCODER\?\)"),
        ({"tensors": {}}, "tensors: accepted are param and inTensors"),
        ({"inTensors": {"quary": None}}, "inTensors: quary: with this param there are query, key"),
        ({"inTensors": ["f16[2]@strided(2)"]}, r"inTensors\[0\]: .*contiguous"),
        ({"inTensors": 3}, "inTensors: accepted is an object"),
    ],
)
def test_operations_described_wrongly(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    text = atb_explained(tmp_path, {**SELF_ATTENTION, **changes}, status=1)
    assert re.search(f"^explain: SelfAttentionOperation: {sentence}", text)


def test_sayings_are_of_rules_that_exist() -> None:
    from pyaclnn.tools._sayings import SAYINGS, SHARED

    others = [name for name in ops.versions() if name not in SAYINGS]
    shared = {rule for name in others for rule in rule_ids(pyaclnn.rules(name))}
    assert shared == set(SHARED)
    for operator, said in SAYINGS.items():
        assert set(said) <= set(rule_ids(pyaclnn.rules(operator)))
        for rule in said:
            assert list(rules.said(operator, rule))
