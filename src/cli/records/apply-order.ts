import type { JsonObject } from '../../codec/json-text.ts'
import { users } from '../dataset/people.ts'
import { CommandError } from '../terminal/errors.ts'
import { type Part, placeText } from './entries.ts'
import { keyText, valueName } from './identity.ts'
import type { Action } from './plan.ts'

const closedStatus = { users: 'suspended', courses: 'archived', enrollments: 'inactive' } as const

/** A closed record refuses writes that refer to it. */
export function isClosed(dataset: Part, { status }: JsonObject): boolean {
  return dataset in closedStatus && status === closingOf(dataset)
}

/** Undefined if a part has none. */
export function closingOf(dataset: Part): string | undefined {
  return dataset in closedStatus ? closedStatus[dataset as keyof typeof closedStatus] : undefined
}

/** Unique fields of users: a value must be free before another user takes it. */
const { unique = [] } = users

/**
 * Sorts updates so that each value is free when it is taken, as when one user gets the address of another. Throws a
 * CommandError if users swap values, which would need an intermediate value.
 */
export function inFreeOrder(updates: readonly Action[]): Action[] {
  const holders = new Map<string, Action>()
  for (const action of updates) {
    for (const { field, from } of action.changes) {
      if (unique.includes(field) && typeof from === 'string') holders.set(valueName(field, from), action)
    }
  }
  const ordered = new Set<Action>()
  const place = (action: Action, before: readonly Action[]) => {
    if (ordered.has(action)) return
    if (before.includes(action)) throw exchange(before.slice(before.indexOf(action)))
    for (const { field, to } of action.changes) {
      if (!unique.includes(field) || typeof to !== 'string') continue
      const holder = holders.get(valueName(field, to))
      if (holder && holder !== action) place(holder, [...before, action])
    }
    ordered.add(action)
  }
  for (const action of updates) place(action, [])
  return [...ordered]
}

function exchange(actions: readonly Action[]): CommandError {
  const fields = actions[0]?.changes.filter(({ field }) => unique.includes(field)).map(({ field }) => field)
  return new CommandError(
    'exchanged_values',
    'conflict',
    `Cannot exchange the ${fields?.join(' and ')} of users in one step`,
    {
      why: actions.map(
        ({ key, entry, changes }) =>
          `${entry ? `${placeText(entry.place)}: ` : ''}${keyText(key)}: ${changes
            .filter(({ field }) => unique.includes(field))
            .map(({ field, from, to }) => `${field} ${from} → ${to}`)
            .join(', ')}`,
      ),
      hint: 'Apply another value for one of them first, then the final ones',
    },
  )
}
