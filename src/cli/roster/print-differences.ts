import { isJsonObject } from '../../codec/json-text.ts'
import type { Context } from '../command/context.ts'
import { placeText } from '../records/entries.ts'
import { keyText } from '../records/identity.ts'
import type { Action, Plan } from '../records/plan.ts'
import { printPlan } from '../records/run-apply.ts'

const columns = ['dataset', 'action', 'key', 'field', 'from', 'to', 'place'] as const

/** As CSV a row for each field, otherwise as a plan. */
export async function printDifferences(context: Context, plan: Plan): Promise<void> {
  const { output, settings } = context
  if (settings.output.value !== 'csv') return printPlan(context, plan)
  await output.list([plan.actions.flatMap(rowsOf)], { table: columns, paths: columns })
}

function rowsOf({ dataset, kind, key, entry, changes }: Action): object[] {
  const shared = { dataset, action: kind, key: keyText(key) }
  const place = entry ? placeText(entry.place) : null
  const none = { field: null, from: null, to: null }
  if (changes.length === 0) return [{ ...shared, ...none, place }]
  return changes.map(({ field, from, to }) => ({ ...shared, field, from: cell(from), to: cell(to), place }))
}

function cell(value: unknown): unknown {
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : (value ?? null)
}
