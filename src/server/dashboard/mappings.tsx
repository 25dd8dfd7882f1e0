import { lineOf } from '../../codec/display-text.ts'
import { type Mapping, MappingInput } from '../../contract/integrations.ts'
import type { SignedInRequest } from './call-api.ts'
import { FilterForm } from './filter-form.tsx'
import { Form } from './form.tsx'
import { type List, ListCard, type Listed } from './list.tsx'
import { bodyIn, type FormState, filledInWith, RecordFields, type RecordForm } from './record-form.tsx'
import { Day, recordUrl } from './values.tsx'

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
          <a href={recordUrl(signedIn, noun === 'course' ? 'courses' : 'learners', reference)}>
            {lineOf(name ?? reference, 120)}
          </a>
          {targetStatus === 'deleted' ? <small>Deleted</small> : null}
        </>
      ),
    },
    { name: 'Changed', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
    {
      name: 'Delete',
      unseen: true,
      cell: ({ id, externalKey }, signedIn) => (
        <Form signedIn={signedIn} label={`Delete mapping of ${lineOf(externalKey, 80)}`}>
          <input type="hidden" name="mappingId" value={id} />
          <button type="submit" class="quiet small" name="action" value="unmap">
            Delete<span class="unseen"> {lineOf(externalKey, 80)}</span>
          </button>
        </Form>
      ),
    },
  ],
}

export function Mappings({
  signedIn,
  sent,
  page,
}: {
  signedIn: SignedInRequest
  sent: FormState | undefined
  page: Listed<Mapping>
}) {
  const isFiltered = Boolean(signedIn.query.get('key'))
  return (
    <ListCard
      signedIn={signedIn}
      list={mappingList}
      listed={page}
      above={
        <>
          <p>
            Courses and users are found by their external ids and e-mail addresses. A mapping names the ones
            that are not.
          </p>
          {page.data.length > 0 || isFiltered ? (
            <FilterForm
              signedIn={signedIn}
              label="Filter mappings"
              fields={[{ name: 'key', label: keyLabel, type: 'search' }]}
              anchor="mappings"
            />
          ) : null}
        </>
      }
      none={isFiltered ? 'No mappings match.' : 'No mappings yet.'}
      below={
        <>
          <h3>Add a mapping</h3>
          <RecordFields
            signedIn={signedIn}
            of={mappingForm}
            form={sent?.form ?? filledInWith(mappingForm)}
            fault={sent?.fault}
          />
        </>
      }
    />
  )
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
