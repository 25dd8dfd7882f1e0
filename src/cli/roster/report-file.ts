import { jsonText } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { failureOf } from '../failures.ts'
import { exitCode } from '../terminal/errors.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { type RosterReport, reportDocument } from './apply-roster.ts'
import type { DeclaredRoster } from './declared-roster.ts'

export interface ReportedRun {
  readonly startedAt: string
  /** Null if the roster could not be read, or a saved plan was carried out. */
  readonly roster: DeclaredRoster | null
  /** Null if the run ended before the roster was applied. */
  readonly report: RosterReport | null
  /** Null if there was none. */
  readonly fault: unknown
}

/** Writes the report of a run, readable by its owner only, also if the run failed. Replaces an existing file. */
export async function writeReport(
  { io, session }: Context,
  path: string,
  { startedAt, roster, report, fault }: ReportedRun,
): Promise<void> {
  const failure = fault === null ? null : failureOf(fault, session.target())
  const document = {
    ...(report ? reportDocument(report) : { formatVersion: 1, outcome: 'failed' }),
    ...(failure && { exitCode: exitCode(failure.exit) }),
    startedAt,
    endedAt: new Date(io.now()).toISOString(),
    source: roster && {
      ...{ name: roster.name, format: roster.source.format, version: roster.source.version },
      ...{ system: roster.source.systemName, sha256: roster.source.hash },
      ...{ skippedRows: roster.skipped, notes: roster.notes },
    },
    error: failure && { code: failure.code, message: failure.message, why: failure.why },
  }
  await writeTarget(io.cwd, path, [`${jsonText(document, 2)}\n`], { force: true, mode: 0o600 })
}
