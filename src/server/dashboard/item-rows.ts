import type { Fault } from '../../contract/errors.ts'
import type { Integration } from '../../contract/integration.ts'
import { invalid, ProblemError } from '../problem/problem-error.ts'

/** So many items are edited at once; a few more may be added. */
export const rowsAtOnce = 25
const newRows = 3

/** What a row of the form has, by the name of its field, with the most characters that it takes. */
export const columns = { id: 255, name: 255, maximum: 20, weight: 20 } as const
/** One of them. */
export type Column = keyof typeof columns
const names = new Intl.Collator('en', { numeric: true })

/** The fields of one row are told by its number: `item-0-name`. */
export function fieldOf(row: number, column: Column | 'was'): string {
  return `item-${row}-${column}`
}

/** A row of the form: the texts of its fields. */
export interface ItemRow extends Readonly<Record<Column, string>> {
  readonly index: number
  /** The id that it had; empty for a new one. */
  readonly was: string
}

/** The rows of a form as it was filled in; never more than one has. */
export function rowsIn(form: URLSearchParams): ItemRow[] {
  const given = (index: number, column: Column | 'was') => (form.get(fieldOf(index, column)) ?? '').trim()
  return Array.from({ length: rowsAtOnce + newRows }, (_, index) => index)
    .filter((index) => form.has(fieldOf(index, 'was')))
    .map((index) => ({
      index,
      // An id stands as it was sent, spaces included.
      was: form.get(fieldOf(index, 'was')) ?? '',
      id: given(index, 'id'),
      name: given(index, 'name'),
      maximum: given(index, 'maximum'),
      weight: given(index, 'weight'),
    }))
}

/** A form filled in with the items of a page, and empty rows after them. */
export function filledInWithItems(
  gradeItems: Integration['gradeItems'],
  page: string | null,
): URLSearchParams {
  const sorted = Object.entries(gradeItems).sort(([one], [other]) => names.compare(one, other))
  const { at } = pageOf(sorted.length, page)
  const form = new URLSearchParams({ items: String(at) })
  const shown = sorted.slice((at - 1) * rowsAtOnce, at * rowsAtOnce)
  for (const [index, [id, { name, maximum, weight }]] of shown.entries()) {
    form.set(fieldOf(index, 'was'), id)
    const values = { id, name, maximum: String(maximum), weight: weight === null ? '' : String(weight) }
    for (const column of Object.keys(columns) as Column[]) form.set(fieldOf(index, column), values[column])
  }
  for (let row = 0; row < newRows; row += 1) form.set(fieldOf(shown.length + row, 'was'), '')
  return form
}

/** Which page of so many items is meant, of how many; past the last one, the last. */
export function pageOf(total: number, page: string | null) {
  const last = Math.max(1, Math.ceil(total / rowsAtOnce))
  const wanted = Number(page ?? 1)
  return { at: Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, last) : 1, last }
}

/** What the form asks for, as the API takes it: a merge patch of the items that it shows. Throws 422 at the fields. */
export function itemsInputOf(
  form: URLSearchParams,
  /** The items that there are. */
  gradeItems: Integration['gradeItems'],
): { readonly gradeItems: object } {
  const rows = rowsIn(form)
  const isNamed = ({ id }: ItemRow) => id !== ''
  const faults: Fault[] = []
  for (const [place, row] of rows.entries()) {
    const at = (code: string, detail: string): Fault => ({
      pointer: `#/${fieldOf(row.index, 'id')}`,
      code,
      detail,
    })
    const isEmpty = row.was === '' && [row.name, row.maximum, row.weight].every((text) => text === '')
    if (!isNamed(row) && row.was === '' && !isEmpty) faults.push(at('required', 'is required'))
    const isOnOtherPage =
      row.id !== row.was && Object.hasOwn(gradeItems, row.id) && !rows.some(({ was }) => was === row.id)
    const isTwice = isNamed(row) && (isOnOtherPage || rows.slice(0, place).some(({ id }) => id === row.id))
    if (isTwice) faults.push(at('duplicate', 'is in the list already'))
  }
  if (faults.length > 0) throw invalid(faults)
  const removed = rows
    .filter(({ was, id }) => was !== '' && was !== id)
    .map(({ was }) => [was, null] as const)
  const kept = rows.filter(isNamed).map(({ id, name, maximum, weight }) => {
    return [id, { name, maximum: numberIn(maximum), weight: numberIn(weight) }] as const
  })
  return { gradeItems: Object.fromEntries([...removed, ...kept]) }
}

/** A number as it was typed, its comma a point; what is none is told by whoever takes it. */
function numberIn(text: string): number | null {
  return text === '' ? null : Number(text.replace(',', '.'))
}

/** What the API says of an item, told at its row: `#/gradeItems/12/maximum` is about a field of the form. */
export function faultOfItems(fault: ProblemError, form: URLSearchParams): ProblemError {
  if (!fault.errors) return fault
  const rows = rowsIn(form)
  const errors = fault.errors.map((error) => {
    const [, field, key = '', member = 'id'] = error.pointer?.split('/') ?? []
    const id = key.replaceAll('~1', '/').replaceAll('~0', '~')
    const row = field === 'gradeItems' ? rows.find((one) => one.id === id) : undefined
    if (!row || !Object.hasOwn(columns, member)) return error
    return { ...error, pointer: `#/${fieldOf(row.index, member as Column)}` }
  })
  return new ProblemError(fault.code, fault.message, { errors })
}
