import type { ChalkInstance } from 'chalk'
import { escapeHidden } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import type { ChangeCount } from '../../contract/changes.ts'
import { changeText, namedChanges } from '../operation/named-changes.ts'
import { pluralise } from '../terminal/format-text.ts'
import { erased, erasedForGood, passwords, unknownValues } from './net-change.ts'
import type { Kept, UndoAction, UndoPlan } from './plan-undo.ts'
import { kinds } from './record-kinds.ts'

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
  lasting: readonly string[],
  paint: ChalkInstance,
  most = Number.POSITIVE_INFINITY,
): Generator<string> {
  for (const { name, plural } of kinds) {
    const own = plan.actions.filter(({ of }) => of.name === name)
    const lines = own.slice(0, most).flatMap((action) => [...actionLines(action, paint)])
    yield* section(paint.bold(plural), lines, lines.length)
    if (own.length > most) yield `  and ${own.length - most} more\n`
  }
  yield* section(paint.bold('kept as they are'), plan.kept.map(keptText), most)
  yield* section(paint.bold('not undone'), lasting, most)
  const sections = plan.actions.length + plan.kept.length + lasting.length
  yield `${sections > 0 ? '\n' : ''}${countsText(plan)}\n`
}

function* section(title: string, lines: readonly string[], most: number): Generator<string> {
  if (lines.length === 0) return
  yield `${title}\n`
  for (const line of lines.slice(0, most)) yield `  ${line}\n`
  if (lines.length > most) yield `  and ${lines.length - most} more\n`
}

function* actionLines({ kind, net, fields }: UndoAction, paint: ChalkInstance): Generator<string> {
  yield paint[colours[kind]](escapeHidden(`${signs[kind]} ${net.name}`))
  for (const [field, { from, to }] of fields) {
    for (const change of namedChanges(field, from, to)) yield `    ${escapeHidden(changeText(change))}`
  }
}

function keptText({ noun, name, fields, reason }: Kept): string {
  const { dataset } = kinds.find((kind) => kind.name === noun) ?? {}
  const what = fields.length > 0 ? `: ${fields.join(', ')} ${reason}` : ` ${reason}`
  return escapeHidden(`${dataset?.noun ?? noun} ${name}${what}`)
}

export function undoCounts({ actions, kept, done }: UndoPlan) {
  const count = (kind: UndoAction['kind']) => actions.filter((action) => action.kind === kind).length
  return {
    restore: count('create'),
    change: count('update'),
    remove: count('delete'),
    kept: kept.length,
    done,
  }
}

/** Returns the counts in words: `2 to remove, 1 to restore, 3 to change back; 1 kept, 4 as before`. */
export function countsText(plan: UndoPlan): string {
  const { restore, change, remove, kept, done } = undoCounts(plan)
  const rest = [...(kept > 0 ? [`${kept} kept`] : []), ...(done > 0 ? [`${done} as before already`] : [])]
  const tail = rest.length > 0 ? `; ${rest.join(', ')}` : ''
  if (restore + change + remove === 0) return `Nothing to undo${tail}`
  return `${remove} to remove, ${restore} to restore, ${change} to change back${tail}`
}

/** Returns what a change did in words: `12 users created, 3 users updated`. */
export function changeCountsText(counts: readonly Pick<ChangeCount, 'noun' | 'action' | 'count'>[]): string {
  return counts
    .map(({ noun, action, count }) => `${pluralise(count, nounText(noun))} ${verbText(action)}`)
    .join(', ')
}

function verbText(action: string): string {
  return action.slice(action.indexOf('.') + 1).replaceAll('_', ' ')
}

function nounText(noun: string): string {
  if (noun === 'progress') return 'progress record'
  return kinds.find(({ name }) => name === noun)?.dataset.noun ?? noun.replaceAll('_', ' ')
}

/** Returns the sentences about what a change did that cannot be taken back. */
export function lastingTexts({ lasting }: Pick<UndoPlan, 'lasting'>): string[] {
  return [...lasting].map(([what, count]) => {
    switch (what) {
      case erased:
        return `${pluralise(count, 'action')} whose values were erased with a user or are not visible to you`
      case erasedForGood:
        return `${pluralise(count, 'permanent deletion')}`
      case passwords:
        return `${pluralise(count, 'new password')}: the former ones are not known`
      case 'progress.updated':
        return `${pluralise(count, 'progress record')}: older progress never replaces newer`
      default: {
        const kind = kinds.find(({ name }) => what === unknownValues(name))
        if (kind) {
          return `${pluralise(count, `updated ${kind.dataset.noun}`)}: the former values were not recorded`
        }
        const noun = what.slice(0, what.indexOf('.'))
        return `${pluralise(count, nounText(noun))} ${verbText(what)}`
      }
    }
  })
}

/** Returns a plan as data; docs/recipes.md describes the members. */
export function undoDocument(plan: UndoPlan, lasting: readonly string[]): JsonObject {
  return {
    formatVersion: 1,
    summary: undoCounts(plan),
    lasting: [...lasting],
    kept: plan.kept.map((kept) => ({ ...kept })),
    actions: plan.actions.map(({ kind, of, net, fields }) => ({
      action: kind,
      noun: of.name,
      id: net.id,
      name: net.name,
      fields: [...fields].map(([field, { from, to }]) => ({ field, from: from ?? null, to: to ?? null })),
    })),
  }
}
