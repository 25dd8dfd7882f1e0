import type { Fault } from '../../contract/errors.ts'
import type { Integration } from '../../contract/integrations.ts'
import { Table } from '../../report/elements.tsx'
import { invalid, ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import { Faults, Form, isFaulty } from './form.tsx'
import type { FormState } from './record-form.tsx'
import { formatCount } from './values.tsx'

/** Narrow screens do not show the heading of the first column. */
const placeholders: Partial<Record<Column, string>> = { id: 'Item ID', maximum: '100' }
const words: Readonly<Record<Column, string>> = {
  id: 'Item ID',
  name: 'Name',
  maximum: 'Maximum score',
  weight: 'Weight',
}

/** Items of the other system's gradebook, a page with empty rows for new ones. */
export function ItemsForm({
  signedIn,
  sent,
  system,
  gradeItems,
}: {
  signedIn: SignedInRequest
  sent: FormState | undefined
  system: string
  gradeItems: Integration['gradeItems']
}) {
  const form = sent?.form ?? filledInWithItems(gradeItems, signedIn.query.get('items'))
  const total = Object.keys(gradeItems).length
  const { at, last } = pageOf(total, form.get('items'))
  const from = (at - 1) * maxItemRows
  const here = signedIn.base + signedIn.request.path
  const rows = rowsIn(form)
  return (
    <section class="card" aria-labelledby="gradeItems">
      <h2 id="gradeItems" tabindex={-1}>
        Graded items
      </h2>
      <p>
        {`Set these where ${system} sends scores without a maximum, a name or a weight. Items that are not listed have the maximum score above.`}
      </p>
      {last === 1 ? null : (
        <nav class="pages items" aria-label="Items">
          <span>{`Items ${formatCount(from + 1)}–${formatCount(Math.min(from + maxItemRows, total))} of ${formatCount(total)}`}</span>
          {at > 1 ? <a href={`${here}?items=${at - 1}#gradeItems`}>Previous items</a> : null}
          {at < last ? <a href={`${here}?items=${at + 1}#gradeItems`}>Next items</a> : null}
        </nav>
      )}
      <Form signedIn={signedIn} label="Graded items">
        <Faults fault={sent?.fault} labels={labelsOf(rows)} />
        <input type="hidden" name="items" value={String(at)} />
        <Table
          caption="Graded items, with empty rows for new ones"
          columns={Object.values(words).map((name) => ({ name }))}
          rows={rows.map((row) =>
            (Object.keys(columns) as Column[]).map((column) => (
              <>
                {column === 'id' ? (
                  <input type="hidden" name={fieldOf(row.index, 'was')} value={row.was} />
                ) : null}
                <label for={fieldOf(row.index, column)}>
                  <span class="unseen">{labelOf(row, column)}</span>
                </label>
                <input
                  id={fieldOf(row.index, column)}
                  name={fieldOf(row.index, column)}
                  value={row[column]}
                  maxlength={columns[column]}
                  inputmode={column === 'maximum' || column === 'weight' ? 'decimal' : undefined}
                  placeholder={placeholders[column]}
                  autocomplete="off"
                  spellcheck={false}
                  aria-invalid={isFaulty(sent?.fault, fieldOf(row.index, column))}
                />
              </>
            )),
          )}
        />
        <p class="hint below">To remove an item, clear its ID.</p>
        <div class="actions">
          <button type="submit" name="action" value="items">
            Save graded items
          </button>
        </div>
      </Form>
    </section>
  )
}

function labelOf({ id, index, was }: ItemRow, column: Column): string {
  return `${words[column]} of ${id || was ? `item ${id || was}` : `row ${index + 1}`}`
}

function labelsOf(rows: readonly ItemRow[]): Readonly<Record<string, string>> {
  const labels = rows.flatMap((row) =>
    (Object.keys(columns) as Column[]).map(
      (column) => [fieldOf(row.index, column), labelOf(row, column)] as const,
    ),
  )
  return { gradeItems: 'The list', ...Object.fromEntries(labels) }
}

const maxItemRows = 25
const newRows = 3

/** With the maximum characters of each. */
const columns = { id: 255, name: 255, maximum: 20, weight: 20 } as const
type Column = keyof typeof columns
const names = new Intl.Collator('en', { numeric: true })

/** `item-0-name`. */
function fieldOf(row: number, column: Column | 'was'): string {
  return `item-${row}-${column}`
}

interface ItemRow extends Readonly<Record<Column, string>> {
  readonly index: number
  /** The saved id; empty for a new item. */
  readonly was: string
}

/** Returns the rows of a submitted form, at most those of one page. */
function rowsIn(form: URLSearchParams): ItemRow[] {
  const given = (index: number, column: Column | 'was') => (form.get(fieldOf(index, column)) ?? '').trim()
  return Array.from({ length: maxItemRows + newRows }, (_, index) => index)
    .filter((index) => form.has(fieldOf(index, 'was')))
    .map((index) => ({
      index,
      // Not trimmed: a saved id may contain spaces.
      was: form.get(fieldOf(index, 'was')) ?? '',
      id: given(index, 'id'),
      name: given(index, 'name'),
      maximum: given(index, 'maximum'),
      weight: given(index, 'weight'),
    }))
}

/** Fills in a page of items, and empty rows after them. */
function filledInWithItems(gradeItems: Integration['gradeItems'], page: string | null): URLSearchParams {
  const sorted = Object.entries(gradeItems).sort(([one], [other]) => names.compare(one, other))
  const { at } = pageOf(sorted.length, page)
  const form = new URLSearchParams({ items: String(at) })
  const shown = sorted.slice((at - 1) * maxItemRows, at * maxItemRows)
  for (const [index, [id, { name, maximum, weight }]] of shown.entries()) {
    form.set(fieldOf(index, 'was'), id)
    const values = { id, name, maximum: String(maximum), weight: weight === null ? '' : String(weight) }
    for (const column of Object.keys(columns) as Column[]) form.set(fieldOf(index, column), values[column])
  }
  for (let row = 0; row < newRows; row += 1) form.set(fieldOf(shown.length + row, 'was'), '')
  return form
}

/** At most the last page. */
function pageOf(total: number, page: string | null) {
  const last = Math.max(1, Math.ceil(total / maxItemRows))
  const wanted = Number(page ?? 1)
  return { at: Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, last) : 1, last }
}

/** A merge patch. Throws 422 that points to the fields of the form. */
export function itemsInputOf(
  form: URLSearchParams,
  /** The saved items. */
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

/** With a decimal point or comma; NaN for other text, which the API refuses. */
function numberIn(text: string): number | null {
  return text === '' ? null : Number(text.replace(',', '.'))
}

/** The API's faults (`#/gradeItems/12/maximum`) point to the fields of the form. */
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
