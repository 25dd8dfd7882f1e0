import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { openTarget } from '../terminal/target-file.ts'

const version = 2

/**
 * Saves a plan as JSON lines, readable by its owner only: a header with the command and target that it is for, one
 * line for each change, and the number of changes, without which the file is incomplete.
 */
export async function savePlanLines(
  { cwd }: Pick<Io, 'cwd'>,
  path: string,
  header: JsonObject,
  changes: Iterable<readonly object[]> | AsyncIterable<readonly object[]>,
): Promise<void> {
  const file = await openTarget(cwd, path, { force: true, mode: 0o600 })
  try {
    await file.write(Buffer.from(`${jsonText({ learnctlPlan: version, ...header })}\n`))
    let count = 0
    for await (const some of changes) {
      count += some.length
      if (some.length > 0) await file.write(Buffer.from(some.map((each) => `${jsonText(each)}\n`).join('')))
    }
    await file.write(Buffer.from(`${jsonText({ changes: count })}\n`))
    await file.finish()
  } catch (error) {
    await file.discard()
    throw error
  }
}

/**
 * Checks the first and last line of a plan and returns the first. Throws a UsageError if they are not those of a whole
 * plan for a command.
 *
 * @param count number of lines between them
 */
export function planHeader(
  path: string,
  command: string,
  first: unknown,
  { last, count }: { readonly last: unknown; readonly count: number },
): JsonObject {
  const again = { code: 'invalid_plan', hint: `Make a new plan: learnctl ${command} --plan-out plan.jsonl` }
  if (!isJsonObject(first) || first['learnctlPlan'] === undefined) {
    throw new UsageError(`${path} is not a plan`, again)
  }
  if (first['learnctlPlan'] !== version) throw new UsageError(`${path} is a plan of another version`, again)
  if (first['command'] !== command) {
    throw new UsageError(`${path} is a plan for learnctl ${first['command']}, not for ${command}`, again)
  }
  if (!isJsonObject(last) || last['changes'] !== count) throw new UsageError(`${path} is incomplete`, again)
  return first
}
