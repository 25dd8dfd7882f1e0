import type { Child } from 'hono/jsx'
import * as z from 'zod'
import { lineOf } from '../../codec/display-text.ts'
import { GradeItem, type Integration, type Mapping, MappingInput } from '../../contract/integrations.ts'
import { invalid } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import { postForm } from './form.tsx'
import { type List, type Listed, listCard } from './list.tsx'
import {
  type FilterField,
  filterForm,
  hereWith,
  itemPageOf,
  itemPages,
  pageSize,
} from './list-parameters.tsx'
import { bodyIn, type FormState, filledInWith, type RecordForm, recordForm } from './record-form.tsx'
import { Day, none, recordLink } from './values.tsx'

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
      cell: ({ itemId }, signedIn) =>
        deleteForm(signedIn, `item ${lineOf(itemId, 80)}`, ['itemId', itemId], 'unset', itemId),
    },
  ],
}

const ids = new Intl.Collator('en', { numeric: true })

export function gradeItemsCard(
  signedIn: SignedInRequest,
  gradeItems: Integration['gradeItems'],
  system: string,
  sent: FormState | undefined,
): Child {
  const items = Object.entries(gradeItems)
    .map(([itemId, item]) => ({ itemId, ...item }))
    .sort((one, other) => ids.compare(one.itemId, other.itemId))
  const shown = itemPageOf(signedIn.query.get('items'), pageSize, items.length)
  const chosen = items.find(({ itemId }) => itemId === signedIn.query.get('item'))
  const data = items.slice((shown.at - 1) * pageSize, shown.at * pageSize)
  return listCard(
    signedIn,
    itemList,
    { data },
    {
      above: (
        <>
          <p>
            {`Set these where ${system} sends scores without a maximum, a name or a weight. Items that are not listed have the maximum score above.`}
          </p>
          {itemPages(signedIn, shown, 'gradeItems')}
        </>
      ),
      none: 'No graded items yet.',
      below: (
        <>
          <h3>Set a graded item</h3>
          {recordForm(signedIn, itemForm, sent ?? { form: filledInWith(itemForm, chosen) })}
        </>
      ),
    },
  )
}

/** A merge patch. Throws 422. */
export function itemInputOf(form: URLSearchParams): { readonly gradeItems: object } {
  const { itemId, ...item } = bodyIn(itemForm, form)
  if (itemId === '') throw invalid([{ pointer: '#/itemId', code: 'required', detail: 'is required' }])
  return { gradeItems: { [String(itemId)]: item } }
}

const keyLabel = 'Id in the other system'

const mappingForm: RecordForm = {
  label: 'Add a mapping',
  button: 'Save mapping',
  body: MappingInput,
  action: 'map',
  fields: [
    { name: 'noun', label: 'Kind' },
    // Not trimmed: the other system compares it as it is.
    { name: 'externalKey', label: keyLabel, read: (text) => text },
    {
      name: 'reference',
      label: 'Course or user here',
      hint: 'Id, ext:<externalId>, or email:<address> of a user',
    },
  ],
}

const mappingList: List<Mapping> = {
  id: 'mappings',
  title: 'Mappings',
  caption: 'Mappings, newest first',
  columns: [
    { name: keyLabel, cell: ({ externalKey }) => <code>{lineOf(externalKey, 80)}</code> },
    { name: 'Kind', cell: ({ noun }) => noun },
    {
      name: 'Course or user here',
      look: 'broad',
      cell: ({ noun, name, reference, targetStatus }, signedIn) => (
        <>
          {recordLink(
            signedIn,
            noun === 'course' ? 'courses' : 'learners',
            reference,
            lineOf(name ?? reference, 120),
          )}
          {targetStatus === 'deleted' ? <small>Deleted</small> : null}
        </>
      ),
    },
    { name: 'Changed', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
    {
      name: 'Delete',
      unseen: true,
      cell: ({ id, externalKey }, signedIn) =>
        deleteForm(
          signedIn,
          `mapping of ${lineOf(externalKey, 80)}`,
          ['mappingId', id],
          'unmap',
          externalKey,
        ),
    },
  ],
}

export function mappingsCard(
  signedIn: SignedInRequest,
  listed: Listed<Mapping>,
  sent: FormState | undefined,
): Child {
  const isFiltered = Boolean(signedIn.query.get('key'))
  const fields: FilterField[] = [{ name: 'key', label: keyLabel, type: 'search' }]
  return listCard(signedIn, mappingList, listed, {
    above: (
      <>
        <p>
          Courses and users are found by their external ids and e-mail addresses. A mapping names the ones
          that are not.
        </p>
        {listed.data.length > 0 || isFiltered
          ? filterForm(signedIn, 'Filter mappings', fields, 'mappings')
          : null}
      </>
    ),
    none: isFiltered ? 'No mappings match.' : 'No mappings yet.',
    below: (
      <>
        <h3>Add a mapping</h3>
        {recordForm(signedIn, mappingForm, sent ?? { form: filledInWith(mappingForm) })}
      </>
    ),
  })
}

export function mappingOf(form: URLSearchParams) {
  const body = bodyIn(mappingForm, form)
  return { ...body, reference: referenceOf(String(body['noun']), String(body['reference'])) }
}

/** In the API's form; an e-mail address needs no prefix. */
export function referenceOf(noun: string, text: string): string {
  const reference = text.trim()
  return noun === 'user' && /^[^:\s]+@[^@\s]+$/.test(reference) ? `email:${reference}` : reference
}

/** `name` is for screen readers. */
function deleteForm(
  signedIn: SignedInRequest,
  what: string,
  [field, value]: readonly [name: string, value: string],
  action: string,
  name: string,
): Child {
  return postForm(
    signedIn,
    `Delete ${what}`,
    <input type="hidden" name={field} value={value} />,
    <button type="submit" class="quiet small" name="action" value={action}>
      Delete<span class="unseen"> {lineOf(name, 80)}</span>
    </button>,
  )
}
