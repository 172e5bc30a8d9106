"""``bridge check``: lint golden sets, suites and reports."""

from __future__ import annotations

from pathlib import Path

import typer


def check(
    paths: list[Path] = typer.Argument(..., metavar="PATH", help="Files or folders."),
    as_json: bool = typer.Option(False, "--json", help="One JSON document on stdout."),
) -> int:
    """Lint golden sets, suites and reports, told apart by their shape; exit 2 on an error."""
    import json

    from bridge.lint.finding import LintFinding
    from bridge.lint.paths import lint_path

    looked_at = 0
    findings: list[LintFinding] = []
    for path in paths:
        number, found = lint_path(path)
        looked_at += number
        findings.extend(each for each in found if each not in findings)
    errors = sum(finding.level == "error" for finding in findings)
    if as_json:
        parts = [
            {
                "level": f.level,
                "rule": f.rule,
                "path": str(f.path),
                "line": f.line,
                "message": f.message,
            }
            for f in findings
        ]
        print(json.dumps({"files": looked_at, "errors": errors, "findings": parts}, indent=2))
    else:
        from bridge.model.counted import counted
        from bridge.report.inert import one_line

        for finding in findings:
            print(one_line(finding, 400))
        note = "" if looked_at else " (no golden set, suite, run or report is there)"
        warnings = counted(len(findings) - errors, "warning")
        print(f"{counted(looked_at, 'file')}, {counted(errors, 'error')}, {warnings}{note}")
    return 2 if errors else 0
