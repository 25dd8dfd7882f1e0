import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { type ImportFile, openImportFile } from './sources/file.ts'
import { jsonLines } from './sources/json.ts'

const version = 4

/**
 * Saves a plan as JSON lines, readable by its owner only: a header with the command and target that it is for, one
 * line for each change, and the number of changes, without which the file is incomplete.
 */
export async function writePlanFile(
  { cwd }: Pick<Io, 'cwd'>,
  path: string,
  header: JsonObject,
  changes: Iterable<readonly object[]> | AsyncIterable<readonly object[]>,
): Promise<void> {
  await writeTarget(cwd, path, lines(), { force: true, mode: 0o600 })

  async function* lines(): AsyncGenerator<string> {
    yield `${jsonText({ learnctlPlan: version, ...header })}\n`
    let count = 0
    for await (const some of changes) {
      count += some.length
      yield some.map((each) => `${jsonText(each)}\n`).join('')
    }
    yield `${jsonText({ changes: count })}\n`
  }
}

export interface PlanTarget {
  /** Command without its files: `users import`. */
  readonly command: string
  /** Name of the platform. */
  readonly target: string
}

/**
 * Reads a saved plan. Throws a UsageError if the file is not a whole plan of a command, and a CommandError if it was made for
 * another target.
 */
export async function readPlanFile(
  io: Io,
  path: string,
  { command, target }: PlanTarget,
): Promise<{ readonly file: ImportFile; readonly header: JsonObject; readonly changes: readonly unknown[] }> {
  const file = await openImportFile(io, path, { format: 'jsonl', charset: 'utf-8' })
  const changes: unknown[] = []
  for await (const { value } of jsonLines(file)) changes.push(value)
  const first = changes.shift()
  const last = changes.pop()
  const header = isJsonObject(first) ? first : {}
  const fault =
    header['learnctlPlan'] === undefined
      ? 'is not a plan'
      : header['learnctlPlan'] !== version
        ? 'is a plan of another version'
        : header['command'] !== command
          ? `is a plan for learnctl ${header['command']}`
          : !isJsonObject(last) || last['changes'] !== changes.length
            ? 'is incomplete'
            : null
  if (fault !== null) throw new UsageError(`${path} ${fault}`, { code: 'invalid_plan', hint: again(command) })
  if (header['target'] === target) return { file, header, changes }
  const message = `The plan was made for ${header['target']}, not for ${target}`
  throw new CommandError('stale_plan', 'conflict', message)
}

/** Returns the error for a platform that has changed since a plan was made. */
export function stalePlan(command: string, reason: string): CommandError {
  const platform = ['apply', 'courses apply', 'roster apply'].includes(command) ? 'academy' : 'platform'
  return new CommandError('stale_plan', 'conflict', `The ${platform} has changed since the plan was made`, {
    why: [reason],
    hint: again(command),
  })
}

function again(command: string): string {
  return `Make a new plan with learnctl ${command} --plan-out`
}
