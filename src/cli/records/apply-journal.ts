import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { systemCode } from '../../config/errors.ts'
import { makeDirectory } from '../../config/files.ts'
import type { Io } from '../terminal/io.ts'
import type { Part } from './entries.ts'
import { createLineWriter, maxAttemptAgeMs, readLines, replaceLines } from './journal-file.ts'
import type { Action } from './plan.ts'
import type { Attempt, Step, Unit } from './step.ts'

/** A record that an apply opened, to be closed again. */
export interface Opened {
  readonly dataset: Part
  readonly id: string
  /** Fields that close it. */
  readonly closing: JsonObject
}

/**
 * Notes of an apply on disk, for the next one if it is interrupted: requests without an answer, which are repeated with
 * their Idempotency-Key, and records that were opened. No record is noted, only hashes of what was sent.
 */
export interface ApplyJournal {
  /** True if an earlier run of the same saved plan has sent something. */
  readonly isContinued: boolean
  /** True if an earlier run of the same saved plan has sent steps of this action. */
  hasBegun(action: Pick<Action, 'dataset' | 'key'>): boolean
  /** True if an earlier run of the same saved plan has sent this action and it was answered. */
  isDone(action: Pick<Action, 'dataset' | 'key'>): boolean
  /** Records that were opened and not closed again, by id; at first those of an earlier run. */
  readonly open: Map<string, Opened>
  attemptOf(unit: Unit<Action>, opened?: Opened): Attempt
  /** Notes that a unit was answered; `closed` is the id of a record that it closed. */
  finish(
    unit: Unit<Action>,
    answer: { readonly isRefused: boolean; readonly closed?: string | undefined },
  ): void
  /** Deletes the notes of an apply that is complete. */
  complete(): void
  close(): void
}

interface Begun {
  readonly key: string
  readonly at: number
}

/**
 * Reads the journal of an academy. A process that applies holds the lock of the academy, so it is the only one.
 *
 * @param plan hash of the saved plan that is applied; null for files
 */
export async function openApplyJournal(
  io: Pick<Io, 'now'>,
  stateDirectory: string,
  target: string,
  plan: string | null,
): Promise<ApplyJournal> {
  const directory = join(stateDirectory, 'applies')
  // The name of earlier versions: what one of them left open is closed after an upgrade.
  const name = createHash('sha256').update(`${target}\nacademy\n`).digest('hex').slice(0, 24)
  const path = join(directory, `${name}.jsonl`)
  const [header, ...before] = readIfThere(path)
  const isSamePlan = plan !== null && header?.['plan'] === plan
  const unanswered = new Map<string, Begun>()
  /** Names of actions that were begun; true for those that were answered. */
  const actions = new Map<string, boolean>()
  const namesByUnit = new Map<string, readonly string[]>()
  const open = new Map<string, Opened>()
  for (const { unit, begun, at, names, isRefused, opened, closed } of before) {
    // Lines of `begin` and `finish`.
    const name = String(unit)
    if (begun !== undefined) {
      namesByUnit.set(name, names as string[])
      unanswered.set(name, { key: String(begun), at: Number(at) })
    } else unanswered.delete(name)
    for (const each of namesByUnit.get(name) ?? []) actions.set(each, begun === undefined && !isRefused)
    if (opened) open.set((opened as Opened).id, opened as Opened)
    if (closed) open.delete(String(closed))
  }
  const lines = createLineWriter(path)
  /** Names of the units under way, by number. */
  const units = new Map<number, string>()
  let isWritten = false

  /** Starts the file of this run with what an earlier one left. */
  function start(): void {
    if (isWritten) return
    isWritten = true
    makeDirectory(directory, 'XDG_STATE_HOME')
    replaceLines(path, [
      { target, plan },
      ...before.map((line) => (isSamePlan ? line : { ...line, names: [] })),
    ])
  }

  return {
    isContinued: isSamePlan && actions.size > 0,
    hasBegun: (action) => isSamePlan && actions.has(nameOf(action)),
    isDone: (action) => isSamePlan && actions.get(nameOf(action)) === true,
    open,
    attemptOf({ number, steps }, opened) {
      const unit = nameOfUnit(steps)
      units.set(number, unit)
      const earlier = unanswered.get(unit)
      const isKnown = earlier !== undefined && earlier.at > io.now() - maxAttemptAgeMs
      const key = isKnown ? earlier.key : crypto.randomUUID()
      return {
        idempotencyKey: key,
        async begin() {
          start()
          if (opened) open.set(opened.id, opened)
          // Only a saved plan is continued action by action.
          const names = plan === null ? [] : steps.map(({ from }) => nameOf(from))
          lines.add({ unit, begun: key, at: io.now(), names, ...(opened && { opened }) })
          await lines.written()
        },
      }
    },
    finish({ number }, { isRefused, closed }) {
      if (closed !== undefined) open.delete(closed)
      lines.add({
        unit: units.get(number),
        ...(isRefused && { isRefused }),
        ...(closed !== undefined && { closed }),
      })
      units.delete(number)
    },
    complete() {
      lines.drop()
      rmSync(path, { force: true })
    },
    close: lines.close,
  }
}

/** Returns a hash of what steps send. Steps with a password get a random name: a hash could be guessed. */
function nameOfUnit(steps: readonly Step<Action>[]): string {
  if (steps.some(({ record }) => record['password'] !== undefined)) return crypto.randomUUID()
  const sent = steps.map(({ deed, dataset, record, current }) => [
    deed,
    dataset.name,
    current?.['id'] ?? null,
    record,
  ])
  return createHash('sha256').update(jsonText(sent)).digest('base64url').slice(0, 22)
}

function nameOf({ dataset, key }: Pick<Action, 'dataset' | 'key'>): string {
  return createHash('sha256').update(`${dataset}\n${key}`).digest('base64url').slice(0, 12)
}

function readIfThere(path: string): JsonObject[] {
  try {
    return readLines(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
