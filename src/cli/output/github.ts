import { appendFileSync, existsSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { escapeHidden } from '../../codec/display-text.ts'
import { systemCode } from '../../config/errors.ts'
import type { Finding, Findings } from '../terminal/errors.ts'
import { type Io, note, writeStderr } from '../terminal/io.ts'

/** All who can read the repository see it on the page of a workflow run. */
interface WorkflowReport extends Findings {
  /** Heading of the summary, without values of people. */
  readonly title: string
  /** Numbers by what they count, such as `created`. */
  readonly counts?: Readonly<Record<string, number>>
}

type Level = Finding['level']
type Place = Pick<Io, 'env' | 'cwd' | 'stderr'>

/** Annotations of one level that GitHub shows for a step: docs.github.com, REST API, check runs. */
const maxAnnotations = 10
const maxListed = 50
const maxTextLength = 300
/** Bytes of the summaries of a step; GitHub drops those of more than 1 MiB (docs.github.com, workflow commands). */
const maxSummaryBytes = 900_000

/** The others are counted. */
export const maxFindings = maxListed

/** True in a step of a workflow (`GITHUB_ACTIONS`), unless LEARNCTL_ANNOTATIONS says never. */
function isInWorkflow({ env }: Pick<Io, 'env'>): boolean {
  return env['GITHUB_ACTIONS'] === 'true' && env['LEARNCTL_ANNOTATIONS'] !== 'never'
}

/** Adds annotations and a summary of the step; does nothing elsewhere. `annotates` is false with JSON on standard error. */
export async function reportToWorkflow(io: Place, report: WorkflowReport, annotates = true): Promise<void> {
  if (!isInWorkflow(io)) return
  // Without the environment, by which writeStderr would break the commands.
  if (annotates) await writeStderr({ stderr: io.stderr }, annotationsOf(io, report).join(''))
  const path = io.env['GITHUB_STEP_SUMMARY']
  if (!path) return
  const text = summaryOf(io, report)
  try {
    if (existsSync(path) && statSync(path).size + Buffer.byteLength(text) > maxSummaryBytes) return
    appendFileSync(path, text)
  } catch (error) {
    await note(io, `Cannot write the summary of the step: ${systemCode(error) ?? error}`)
  }
}

export function createFindingList(): { add(finding: Finding): void; found(): Findings } {
  const list: Finding[] = []
  let more = 0
  return {
    add(finding) {
      if (list.length < maxFindings) list.push(finding)
      else more += 1
    },
    found: () => ({ list, more }),
  }
}

/**
 * Returns the annotations as workflow commands, each with its line end. They go to standard error, whose lines the runner
 * reads as those of standard output (actions/runner, OutputManager): output of the command stays data.
 */
function annotationsOf(io: Place, { list, more }: WorkflowReport): string[] {
  const levels: readonly Level[] = ['error', 'warning', 'notice']
  const first = list[0]?.level
  return levels.flatMap((level) => {
    const own = list.filter((finding) => finding.level === level)
    const uncounted = level === first ? more : 0
    const shown = own.length + uncounted > maxAnnotations ? own.slice(0, maxAnnotations - 1) : own
    const rest = own.length - shown.length + uncounted
    return [
      ...shown.map(({ file, line, text }) => {
        const path = pathInRepository(io, file)
        const place = path === null ? {} : { file: path, ...(line > 0 && { line: String(line) }) }
        const said = path === null && file !== null ? `${placeOf(file, line)}: ${text}` : text
        return commandLine(level, { ...place, title: 'learnctl' }, said)
      }),
      ...(rest > 0 ? [commandLine(level, { title: 'learnctl' }, `and ${rest} more, in the log`)] : []),
    ]
  })
}

/** `::error file=users.csv,line=2::email: is required` (docs.github.com, workflow commands). */
function commandLine(level: Level, properties: Readonly<Record<string, string>>, message: string): string {
  const given = Object.entries(properties).map(([name, text]) => `${name}=${escapeProperty(text)}`)
  return `::${level} ${given.join(',')}::${escapeData(lineIn(message))}\n`
}

/** Escapes the data of a command (actions/toolkit, packages/core/src/command.ts). */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** From its root; null for a file outside of it. */
function pathInRepository({ env, cwd }: Place, file: string | null): string | null {
  if (file === null || !existsSync(resolve(cwd, file))) return null
  const path = relative(env['GITHUB_WORKSPACE'] || cwd, resolve(cwd, file)).replaceAll('\\', '/')
  return path === '' || path.startsWith('../') || /^[a-z]:/i.test(path) ? null : path
}

function placeOf(file: string, line: number): string {
  return line === 0 ? file : `${file}:${line}`
}

function lineIn(text: string): string {
  const shown = escapeHidden(text)
  return shown.length > maxTextLength ? `${shown.slice(0, maxTextLength - 1)}…` : shown
}

function summaryOf(io: Place, { title, counts = {}, list, more }: WorkflowReport): string {
  const columns = Object.entries(counts)
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const table =
    columns.length === 0
      ? ''
      : row(columns.map(([name]) => plainText(name))) +
        row(columns.map(() => '---:')) +
        row(columns.map(([, count]) => String(count)))
  const lines = list.slice(0, maxListed).map(({ file, line, text }) => {
    const place = file === null ? '' : `${plainText(placeOf(pathInRepository(io, file) ?? file, line))}: `
    return `- ${place}${plainText(text)}\n`
  })
  const rest = list.length - lines.length + more
  const parts = [table, lines.join('') + (rest > 0 ? `- and ${rest} more\n` : '')]
  return `### ${plainText(title)}\n\n${parts.filter((part) => part !== '').join('\n')}\n`
}

/** Escapes all punctuation that Markdown may act on: CommonMark §2.4 lets a backslash stand before any. */
function plainText(text: string): string {
  return lineIn(text).replace(/[!#$&()*+\-.:<>@[\\\]^_`{|}~]/g, '\\$&')
}
