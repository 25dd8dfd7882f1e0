import type { ChalkInstance } from 'chalk'
import { escapeHidden } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { ChangeCount } from '../../contract/changes.ts'
import type { UndoableNoun } from '../../contract/constants.ts'
import type { UndoneRecord, UndoPlan } from '../../contract/undo.ts'
import { changeText, namedChanges } from '../operation/differences.ts'
import { pluralise } from '../terminal/format-text.ts'

const kinds: Readonly<Record<UndoableNoun, readonly [one: string, several: string]>> = {
  term: ['term', 'terms'],
  user: ['user', 'users'],
  course: ['course', 'courses'],
  group: ['group', 'groups'],
  membership: ['membership', 'members of groups'],
  lesson: ['lesson', 'lessons'],
  enrollment: ['enrolment', 'enrolments'],
  grade: ['grade', 'grades'],
  mapping: ['mapping', 'mappings'],
}

/** False for others, such as API keys. */
export function isUndoable(noun: string): noun is UndoableNoun {
  return Object.hasOwn(kinds, noun)
}

export function nounText(noun: string): string {
  if (noun === 'progress') return 'progress record'
  return isUndoable(noun) ? kinds[noun][0] : noun.replaceAll('_', ' ')
}

const signs = { create: '+', update: '~', delete: '-' } as const
const colours = { create: 'green', update: 'yellow', delete: 'red' } as const

/**
 * Writes a plan as text: what is restored (`+`), changed back (`~`, with each field) and removed (`-`), what was changed since,
 * what cannot be taken back, and the counts.
 *
 * @param most maximum lines per section; the rest are counted
 */
export function* undoText(
  plan: UndoPlan,
  paint: ChalkInstance,
  most = Number.POSITIVE_INFINITY,
): Generator<string> {
  for (const [noun, [, several]] of Object.entries(kinds)) {
    const own = plan.actions.filter((action) => action.noun === noun)
    const lines = own.slice(0, most).flatMap((action) => [...actionLines(action, paint)])
    yield* section(paint.bold(several), lines, lines.length)
    if (own.length > most) yield `  and ${own.length - most} more\n`
  }
  yield* section(paint.bold('kept as they are'), plan.kept.map(keptText), most)
  yield* section(paint.bold('not undone'), plan.lasting, most)
  const sections = plan.actions.length + plan.kept.length + plan.lasting.length
  yield `${sections > 0 ? '\n' : ''}${countsText(plan)}\n`
}

function* section(title: string, lines: readonly string[], most: number): Generator<string> {
  if (lines.length === 0) return
  yield `${title}\n`
  for (const line of lines.slice(0, most)) yield `  ${line}\n`
  if (lines.length > most) yield `  and ${lines.length - most} more\n`
}

function* actionLines({ action, name, fields }: UndoneRecord, paint: ChalkInstance): Generator<string> {
  yield paint[colours[action]](escapeHidden(`${signs[action]} ${name}`))
  for (const { field, from, to } of fields) {
    for (const change of namedChanges(field, from, to)) yield `    ${escapeHidden(changeText(change))}`
  }
}

function keptText({ noun, name, fields, reason }: UndoPlan['kept'][number]): string {
  const what = fields.length > 0 ? `: ${fields.join(', ')} ${reason}` : ` ${reason}`
  return escapeHidden(`${nounText(noun)} ${name}${what}`)
}

export function undoCounts({ actions, kept, done }: Pick<UndoPlan, 'actions' | 'kept' | 'done'>) {
  const count = (kind: UndoneRecord['action']) => actions.filter(({ action }) => action === kind).length
  return {
    restore: count('create'),
    change: count('update'),
    remove: count('delete'),
    kept: kept.length,
    done,
  }
}

/** `2 to remove, 1 to restore, 3 to change back; 1 kept, 4 as before`. */
export function countsText(plan: UndoPlan): string {
  const { restore, change, remove, kept, done } = undoCounts(plan)
  const rest = [...(kept > 0 ? [`${kept} kept`] : []), ...(done > 0 ? [`${done} as before already`] : [])]
  const tail = rest.length > 0 ? `; ${rest.join(', ')}` : ''
  if (restore + change + remove === 0) return `Nothing to undo${tail}`
  return `${remove} to remove, ${restore} to restore, ${change} to change back${tail}`
}

/** `12 users created, 3 users updated`. */
export function changeCountsText(counts: readonly Pick<ChangeCount, 'noun' | 'action' | 'count'>[]): string {
  return counts
    .map(({ noun, action, count }) => `${pluralise(count, nounText(noun))} ${verbText(action)}`)
    .join(', ')
}

function verbText(action: string): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', ' ')
}

/** Returns a plan as data; docs/recipes.md describes the members. */
export function undoDocument(plan: UndoPlan): JsonObject {
  const { lasting, kept, actions } = plan
  return { formatVersion: 1, summary: undoCounts(plan), lasting, kept, actions }
}
