import { isJsonObject, type JsonObject, jsonText } from '../../codec/json-text.ts'
import type { UndoableNoun } from '../../contract/constants.ts'
import { kindOf } from './record-kinds.ts'

export interface RecordedAction {
  readonly noun: string
  /** `created`, `updated`, `deleted` */
  readonly verb: string
  readonly id: string | null
  readonly name: string | null
  readonly isErased: boolean
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

export interface FieldChange {
  readonly from: unknown
  readonly to: unknown
}

export interface NetChange {
  readonly noun: UndoableNoun
  readonly id: string
  readonly name: string
  readonly wasThere: boolean
  readonly isThere: boolean
  readonly fields: ReadonlyMap<string, FieldChange>
  /** Status before the change, if the change has marked the record as deleted. */
  readonly status: unknown
  /** Values that were recorded last, to find the record and what it belongs to. */
  readonly known: JsonObject
  /** Null if not known. */
  readonly versions: { readonly before: number | null; readonly after: number | null }
}

/** Number of actions that cannot be undone, by reason. */
export type Lasting = ReadonlyMap<string, number>

export interface Summed {
  readonly records: readonly NetChange[]
  readonly lasting: Lasting
}

interface Sum {
  noun: UndoableNoun
  id: string
  name: string
  wasThere: boolean
  isThere: boolean
  fields: Map<string, FieldChange>
  known: JsonObject
  before: number | null
  after: number | null
}

/**
 * Actions are in the order of time; `continued` are those of earlier undos that did not complete, whose writes are a part
 * of what remains. Records that end as they began are left out.
 */
export async function sumUp(
  actions: AsyncIterable<readonly RecordedAction[]>,
  continued: AsyncIterable<readonly RecordedAction[]>,
): Promise<Summed> {
  const sums = new Map<string, Sum>()
  /** Deleted records, by what finds them when they are created again. */
  const deleted = new Map<string, Sum>()
  const lasting = new Map<string, number>()

  function add(action: RecordedAction): string | null {
    const { noun, id, before, after } = action
    const kind = kindOf(noun)
    const reason = lastingReason(action)
    if (reason !== null || !kind) return reason ?? `${noun}.${action.verb}`
    if (id === null) return `${noun}.${action.verb}`
    const key = `${kind.name} ${id}`
    const placeOf = (record: JsonObject) => kind.sought && jsonText([kind.name, kind.sought(record)])
    const again = before || !after ? undefined : deleted.get(placeOf(after) ?? '')
    let sum = sums.get(key) ?? again
    if (sum) {
      sum.id = id
      addTo(sum, action, kind.fields)
    } else sum = begin(kind.name, id, action, kind.fields)
    sums.set(key, sum)
    const place = placeOf(sum.known)
    if (!after && place) deleted.set(place, sum)
    return null
  }

  for await (const some of actions) {
    for (const action of some) {
      const what = add(action)
      if (what !== null) lasting.set(what, (lasting.get(what) ?? 0) + 1)
    }
  }
  for await (const some of continued) for (const action of some) add(action)
  return { records: [...new Set(sums.values())].flatMap(netOf), lasting }
}

/** Null if it can be undone. */
function lastingReason({ noun, verb, isErased }: RecordedAction): string | null {
  if (isErased || (noun === 'user' && verb === 'erased')) return erased
  if (verb === 'erased') return erasedForGood
  return verb === 'password_changed' ? passwords : null
}

/** Reason of actions whose values were erased with a user, or are not visible; `lastingTexts` words the reasons. */
const erased = 'erased'
const erasedForGood = 'erased for good'
const passwords = 'passwords'

function begin(noun: UndoableNoun, id: string, action: RecordedAction, written: readonly string[]): Sum {
  const { before, after, name } = action
  const wasThere = before !== null
  const sum: Sum = {
    ...{ noun, id, name: name ?? id, wasThere, isThere: true, fields: new Map(), known: {} },
    ...{ before: versionIn(before), after: versionIn(after) },
  }
  addTo(sum, action, written)
  return sum
}

function addTo(sum: Sum, { before, after, name }: RecordedAction, written: readonly string[]): void {
  if (name !== null) sum.name = name
  // A record that was deleted and comes back may differ from before, as a lesson whose module is gone.
  const former = before ?? (sum.isThere ? null : sum.known)
  sum.isThere = after !== null
  sum.known = { ...sum.known, ...before, ...after }
  sum.before ??= versionIn(before)
  sum.after = versionIn(after) ?? sum.after
  // A record that came or went has all its fields, which are not changes.
  if (!former || !after) return
  for (const field of written) {
    if (!Object.hasOwn(after, field)) continue
    const from = sum.fields.has(field) ? sum.fields.get(field)?.from : former[field]
    sum.fields.set(field, { from, to: after[field] })
  }
}

function versionIn(record: JsonObject | null): number | null {
  const version = record?.['version']
  return typeof version === 'number' ? version : null
}

function netOf({ noun, id, name, fields, known, before, after, ...sum }: Sum): NetChange[] {
  // A user or an enrolment is deleted by its status.
  const wasThere = sum.wasThere && fields.get('status')?.from !== 'deleted'
  const isThere = sum.isThere && fields.get('status')?.to !== 'deleted'
  // A record that came and went leaves nothing to undo.
  if (!wasThere && !isThere) return []
  const changed = [...fields].filter(
    ([field, { from, to }]) => !isSame(from, to) && !(field === 'status' && [from, to].includes('deleted')),
  )
  if (wasThere && isThere && changed.length === 0) return []
  const own = wasThere ? new Map(changed) : new Map<string, FieldChange>()
  const status = fields.get('status')?.from
  const versions = { before, after }
  return [{ noun, id, name, wasThere, isThere, fields: own, status, known, versions }]
}

/** True for equal values, whatever the order of the members of objects. */
export function isSame(one: unknown, other: unknown): boolean {
  if (isJsonObject(one) && isJsonObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...names].every((name) => isSame(one[name] ?? null, other[name] ?? null))
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  return (one ?? null) === (other ?? null)
}

export function lastingTexts(lasting: Lasting): string[] {
  return [...lasting].map(([what, count]) => {
    switch (what) {
      case erased:
        return `${counted(count, 'action')} whose values were erased with a user or are not visible to you`
      case erasedForGood:
        return counted(count, 'permanent deletion')
      case passwords:
        return `${counted(count, 'new password')}: the former ones are not known`
      case 'progress.updated':
        return `${counted(count, 'progress record')}: older progress never replaces newer`
      default: {
        const [noun = '', verb = ''] = what.split('.')
        return `${counted(count, noun.replaceAll('_', ' '))} ${verb.replaceAll('_', ' ')}`
      }
    }
  })
}

/** `1 delivery`, `2 deliveries` */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`
  return `${count} ${noun.endsWith('ry') ? `${noun.slice(0, -1)}ie` : noun}s`
}
