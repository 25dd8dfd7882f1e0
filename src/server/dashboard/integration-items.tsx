import type { Integration } from '../../contract/integration.ts'
import { Faults, type FilledIn, Form, isFaulty } from './form.tsx'
import { type Column, columns, fieldOf, type ItemRow, pageOf, rowsAtOnce, rowsIn } from './item-rows.ts'
import { Table } from './table.tsx'
import { counted } from './value-text.tsx'

/** What an empty field stands for; on a narrow screen the heading of the first one is not seen. */
const placeholders: Partial<Record<Column, string>> = { id: 'Item ID', maximum: '100' }
const words: Readonly<Record<Column, string>> = {
  id: 'Item ID',
  name: 'Name',
  maximum: 'Maximum score',
  weight: 'Weight',
}

/** The items of the other system's gradebook: some of them at once, with empty rows for others. */
export function ItemsForm({
  signedIn,
  form,
  fault,
  system,
  gradeItems,
}: FilledIn & { system: string; gradeItems: Integration['gradeItems'] }) {
  const total = Object.keys(gradeItems).length
  const { at, last } = pageOf(total, form.get('items'))
  const from = (at - 1) * rowsAtOnce
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
          <span>{`Items ${counted(from + 1)}–${counted(Math.min(from + rowsAtOnce, total))} of ${counted(total)}`}</span>
          {at > 1 ? <a href={`${here}?items=${at - 1}#gradeItems`}>Previous items</a> : null}
          {at < last ? <a href={`${here}?items=${at + 1}#gradeItems`}>Next items</a> : null}
        </nav>
      )}
      <Form signedIn={signedIn} label="Graded items">
        <Faults fault={fault} labels={labelsOf(rows)} />
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
                  aria-invalid={isFaulty(fault, fieldOf(row.index, column))}
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
