import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { writeTarget } from '../terminal/target-file.ts'
import { createProblems, type Declared, type Entry, nouns, type Part, placeText } from './entries.ts'
import { keyText } from './identity.ts'
import type { Action, Plan, PlanOptions } from './plan.ts'
import { type Variables, withVariables } from './sources/academy-document.ts'
import { openImportFile } from './sources/file.ts'
import { jsonLines } from './sources/json.ts'

const version = 4

export interface SavedAction extends Pick<Action, 'dataset' | 'kind' | 'key' | 'changes'> {
  readonly id: unknown
  readonly version: unknown
}

export interface SavablePlan {
  readonly plan: Plan
  readonly declared: Declared
  readonly options: PlanOptions
  /** Name of the platform. */
  readonly target: string
}

/**
 * Saves a plan with the records that it was made from, readable by its owner only. Throws a UsageError if it would
 * contain a password.
 */
export async function savePlan(
  io: Io,
  path: string,
  command: string,
  { plan, declared, options, target }: SavablePlan,
): Promise<void> {
  const secret = plan.actions.find(({ entry }) => entry?.record['password'] && entry.password === undefined)
  if (secret?.entry) {
    throw new UsageError('A plan file cannot hold a password', {
      why: [`${placeText(secret.entry.place)}: ${keyText(secret.key)} has one`],
      hint: `Take it from the environment, password: \${NAME}, or apply without a plan file`,
    })
  }
  const entries = [...declared.values()].map((all) =>
    all.filter((entry) => !entry.lacksPeople && !plan.leftOut.has(entry)).map(withoutSecret),
  )
  const header = { command, target, options, parts: [...declared.keys()] }
  await writePlanFile(io, path, header, [plan.actions.map(savedOf), ...entries])
}

function withoutSecret(entry: Entry): Entry {
  const { password: _, ...record } = entry.record
  return {
    ...entry,
    record: { ...record, ...(entry.password !== undefined && { password: entry.password }) },
  }
}

/**
 * Saves a plan as JSON lines, readable by its owner only: a header with the command and target that it is for, one
 * line for each change, and the number of changes, without which the file is incomplete.
 */
async function writePlanFile(
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
  readonly command: string
  /** Name of the platform. */
  readonly target: string
}

/** Throws a UsageError if the file is not a saved plan, and a CommandError if it is for another target. */
export async function readPlan(
  io: Io,
  path: string,
  plan: PlanTarget,
  variables: Variables,
): Promise<Pick<SavablePlan, 'declared' | 'options'> & { readonly actions: readonly SavedAction[] }> {
  const { header, changes } = await readPlanFile(io, path, plan)
  // Written by savePlan.
  const lines = changes as (SavedAction | Entry)[]
  const problems = createProblems()
  const entries = lines.flatMap((line) => {
    if (!('record' in line)) return []
    const { password } = line.record
    if (typeof password !== 'string') return [line]
    const add = (_: unknown, message: string) => problems.add(line.place, `password ${message}`)
    return [{ ...line, record: { ...line.record, password: withVariables(password, variables, add) } }]
  })
  problems.throwIfAny()
  const byPart = Map.groupBy(entries, ({ dataset }) => dataset)
  return {
    options: header['options'] as PlanOptions,
    declared: new Map((header['parts'] as Part[]).map((part) => [part, byPart.get(part) ?? []])),
    actions: lines.flatMap((line) => ('kind' in line ? [line] : [])),
  }
}

/** Throws a UsageError for an incomplete plan or another command, and a CommandError for another target. */
async function readPlanFile(
  io: Io,
  path: string,
  { command, target }: PlanTarget,
): Promise<{ readonly header: JsonObject; readonly changes: readonly unknown[] }> {
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
  if (header['target'] === target) return { header, changes }
  const message = `The plan was made for ${header['target']}, not for ${target}`
  throw new CommandError('stale_plan', 'conflict', message)
}

export function savedOf({ dataset, kind, key, changes, current }: Action): SavedAction {
  const { id = null, version = null } = current ?? {}
  return { dataset, kind, key, changes, id, version }
}

export function stalePlan(command: string, { dataset, key, kind }: SavedAction): CommandError {
  return new CommandError('stale_plan', 'conflict', 'The academy has changed since the plan was made', {
    why: [`Cannot ${kind} ${nouns[dataset]} ${keyText(key)} as planned; nothing was changed`],
    hint: again(command),
  })
}

function again(command: string): string {
  return `Make a new plan with learnctl ${command} --plan-out`
}
