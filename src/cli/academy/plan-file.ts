import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { jsonText, parseJson } from '../../codec/json-text.ts'
import { keyText } from '../records/identity.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Io } from '../terminal/io.ts'
import { openTarget } from '../terminal/target-file.ts'
import { readFileText } from '../terminal/text-input.ts'
import { type Declared, type Entry, nouns, type Part, parts, placeText } from './entry.ts'
import { type Variables, withVariables } from './environment.ts'
import type { PlanOptions } from './make-plan.ts'
import type { Action, LessonPlace, Plan } from './plan.ts'
import { createProblems } from './problems.ts'

/** Action in a plan file. */
export interface Saved extends Pick<Action, 'dataset' | 'kind' | 'key' | 'changes' | 'entry'> {
  readonly id: unknown
  readonly version: unknown
}

/** A saved plan and its target. */
export interface SavedPlan {
  readonly target: string
  readonly options: PlanOptions
  readonly declared: Declared
  readonly lessonPlaces: ReadonlyMap<string, readonly LessonPlace[]>
  readonly deletes: readonly Saved[]
  /** Throws a CommandError if `plan`, recomputed from the declared records, differs from the saved one. */
  requireSame(plan: Plan): void
}

/** Saves a plan, readable by its owner only. Throws a UsageError if it would contain a password. */
export async function savePlan(
  { cwd }: Io,
  path: string,
  plan: Plan,
  { target, options }: Pick<SavedPlan, 'target' | 'options'>,
): Promise<void> {
  const secret = plan.actions.find(({ entry }) => entry?.record['password'] && entry.password === undefined)
  if (secret?.entry) {
    throw new UsageError('A plan file cannot hold a password', {
      why: [`${placeText(secret.entry.place)}: ${keyText(secret.key)} has one`],
      hint: `Take it from the environment, password: \${NAME}, or apply without a plan file`,
    })
  }
  const document = {
    learnctlPlan: 1,
    target,
    options,
    actions: plan.actions.map(savedOf),
    closed: plan.closed.map(savedOf),
    lessonPlaces: [...plan.lessonPlaces],
  }
  const file = await openTarget(cwd, path, { force: true, mode: 0o600 })
  try {
    await file.write(Buffer.from(`${jsonText(document)}\n`))
    await file.finish()
  } catch (error) {
    await file.discard()
    throw error
  }
}

function savedOf({ dataset, kind, key, changes, entry, current }: Action): Saved {
  const { password, ...record } = entry?.record ?? {}
  const kept = entry && {
    ...entry,
    record: { ...record, ...(entry.password !== undefined && { password: entry.password }) },
  }
  return {
    dataset,
    kind,
    key,
    changes,
    entry: kept,
    id: current?.['id'] ?? null,
    version: current?.['version'] ?? null,
  }
}

/** Reads a saved plan. Throws a UsageError if the file is not one. */
export async function readPlan(io: Io, path: string, variables: Variables): Promise<SavedPlan> {
  const document = documentIn(path, await readFileText(io, path))
  // Written by savePlan.
  const actions = document['actions'] as readonly Saved[]
  const problems = createProblems()
  const closed = document['closed'] as readonly Saved[]
  const entries = new Map<Part, Entry[]>()
  for (const { dataset, entry, id } of [...actions, ...closed]) {
    if (!entries.has(dataset)) entries.set(dataset, [])
    if (!entry) continue
    const { password } = entry.record
    const told = (_: unknown, message: string) => problems.add(entry.place, `password ${message}`)
    const record = {
      ...entry.record,
      ...(typeof password === 'string' && { password: withVariables(password, variables, told) }),
    }
    entries.get(dataset)?.push({ ...entry, record, plannedId: id === null ? null : String(id) })
  }
  problems.throwIfAny()
  return {
    target: String(document['target']),
    options: document['options'] as PlanOptions,
    declared: new Map(
      parts.flatMap((part) => (entries.has(part) ? [[part, entries.get(part) ?? []] as const] : [])),
    ),
    lessonPlaces: new Map(document['lessonPlaces'] as [string, LessonPlace[]][]),
    deletes: actions.filter(({ kind }) => kind === 'delete'),
    requireSame(plan) {
      const now = plan.actions.map((action) => parseJson(jsonText(signatureOf(savedOf(action)))))
      const then = actions.filter(({ kind }) => kind !== 'delete').map(signatureOf)
      const changed =
        then.find((action, index) => !isDeepStrictEqual(action, now[index])) ?? plan.actions[then.length]
      if (changed) throw stale(changed)
    },
  }
}

/** Returns the error for an academy that has changed since the plan was made. */
export function stale({ dataset, key, kind }: Pick<Saved, 'dataset' | 'key' | 'kind'>): CommandError {
  return new CommandError('stale_plan', 'conflict', 'The academy has changed since the plan was made', {
    why: [`Cannot ${kind} ${nouns[dataset]} ${keyText(key)} as planned; nothing was changed`],
    hint: 'Make a new plan: learnctl apply --plan-out plan.json',
  })
}

function signatureOf({ dataset, kind, key, changes, id, version }: Saved) {
  return { dataset, kind, key, changes, id, version }
}

function documentIn(path: string, text: string): JsonObject {
  let document: unknown = null
  try {
    document = parseJson(text)
  } catch {
    // Reported below.
  }
  if (isJsonObject(document) && document['learnctlPlan'] === 1 && Array.isArray(document['actions']))
    return document
  throw new UsageError(`${path} is not a plan`, {
    code: 'invalid_plan',
    hint: 'Make one: learnctl apply --plan-out plan.json; to apply files, name them without --plan',
  })
}
