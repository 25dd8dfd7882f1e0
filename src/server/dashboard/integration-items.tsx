import * as z from 'zod'
import { lineOf } from '../../codec/display-text.ts'
import { GradeItem, type Integration } from '../../contract/integrations.ts'
import { invalid } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import { Form } from './form.tsx'
import { type List, ListCard } from './list.tsx'
import { hereWith, itemPageOf, itemPages, pageSize } from './paging.tsx'
import { bodyIn, type FormState, filledInWith, RecordFields, type RecordForm } from './record-form.tsx'
import { none } from './values.tsx'

const itemForm: RecordForm = {
  label: 'Set a graded item',
  button: 'Save item',
  body: GradeItem.extend({ itemId: z.string().min(1).max(255) }),
  action: 'item',
  fields: [
    { name: 'itemId', label: 'Item ID', hint: 'An item with this ID is replaced' },
    { name: 'name', label: 'Name' },
    { name: 'maximum', label: 'Maximum score' },
    { name: 'weight', label: 'Weight', hint: 'Per cent. Empty for none' },
  ],
}

type Item = z.output<typeof GradeItem> & { readonly itemId: string }

const itemList: List<Item> = {
  id: 'gradeItems',
  title: 'Graded items',
  caption: 'Graded items, by ID',
  columns: [
    {
      name: 'Item ID',
      cell: ({ itemId }, signedIn) => (
        <a href={hereWith(signedIn, { item: itemId }, 'itemId')}>{lineOf(itemId, 80)}</a>
      ),
    },
    { name: 'Name', look: 'broad', cell: ({ name }) => (name === '' ? none : lineOf(name, 255)) },
    { name: 'Maximum score', look: 'figures', cell: ({ maximum }) => String(maximum) },
    { name: 'Weight', look: 'figures', cell: ({ weight }) => (weight === null ? none : `${weight}%`) },
    {
      name: 'Delete',
      unseen: true,
      cell: ({ itemId }, signedIn) => (
        <Form signedIn={signedIn} label={`Delete item ${lineOf(itemId, 80)}`}>
          <input type="hidden" name="itemId" value={itemId} />
          <button type="submit" class="quiet small" name="action" value="unset">
            Delete<span class="unseen"> {lineOf(itemId, 80)}</span>
          </button>
        </Form>
      ),
    },
  ],
}

const ids = new Intl.Collator('en', { numeric: true })

/** Items of the other system's gradebook. */
export function GradeItems({
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
  const items = Object.entries(gradeItems)
    .map(([itemId, item]) => ({ itemId, ...item }))
    .sort((one, other) => ids.compare(one.itemId, other.itemId))
  const shown = itemPageOf(signedIn.query.get('items'), pageSize, items.length)
  const chosen = items.find(({ itemId }) => itemId === signedIn.query.get('item'))
  return (
    <ListCard
      signedIn={signedIn}
      list={itemList}
      listed={{ data: items.slice((shown.at - 1) * pageSize, shown.at * pageSize) }}
      above={
        <>
          <p>
            {`Set these where ${system} sends scores without a maximum, a name or a weight. Items that are not listed have the maximum score above.`}
          </p>
          {itemPages(signedIn, shown, 'gradeItems')}
        </>
      }
      none="No graded items yet."
      below={
        <>
          <h3>Set a graded item</h3>
          <RecordFields
            signedIn={signedIn}
            of={itemForm}
            form={sent?.form ?? filledInWith(itemForm, chosen)}
            fault={sent?.fault}
          />
        </>
      }
    />
  )
}

/** A merge patch. Throws 422. */
export function itemInputOf(form: URLSearchParams): { readonly gradeItems: object } {
  const { itemId, ...item } = bodyIn(itemForm, form)
  if (itemId === '') throw invalid([{ pointer: '#/itemId', code: 'required', detail: 'is required' }])
  return { gradeItems: { [String(itemId)]: item } }
}
