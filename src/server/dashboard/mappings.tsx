import { lineOf } from '../../codec/display-text.ts'
import { mappedNouns } from '../../contract/constants.ts'
import type { Mapping } from '../../contract/mappings.ts'
import type { SignedInRequest } from './call-api.ts'
import { Choice, Faults, Field, type FilledIn, Form } from './form.tsx'
import { type List, ListCard, type Listed } from './list.tsx'
import { Day } from './values.tsx'

const labels = { noun: 'Kind', externalKey: 'Id in the other system', reference: 'Course or user here' }

const mappingList: List<Mapping> = {
  id: 'mappings',
  title: 'Mappings',
  caption: 'Mappings, newest first',
  columns: [
    { name: 'Id in the other system', cell: ({ externalKey }) => <code>{lineOf(externalKey, 80)}</code> },
    { name: 'Kind', cell: ({ noun }) => noun },
    {
      name: 'Course or user here',
      look: 'broad',
      cell: (mapping, { base }) => <Target base={base} mapping={mapping} />,
    },
    { name: 'Changed', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
    {
      name: 'Delete',
      unseen: true,
      cell: (mapping, signedIn) => <Deletion signedIn={signedIn} mapping={mapping} />,
    },
  ],
}

export function Mappings({ signedIn, form, fault, page }: FilledIn & { page: Listed<Mapping> }) {
  const key = signedIn.query.get('key') ?? ''
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
          {page.data.length > 0 || key !== '' ? <KeySearch signedIn={signedIn} wanted={key} /> : null}
        </>
      }
      none={<p>{key === '' ? 'No mappings yet.' : 'No mappings match.'}</p>}
      below={
        <>
          <h3>Add a mapping</h3>
          <MappingForm {...{ signedIn, form, fault }} />
        </>
      }
    />
  )
}

function Target({
  base,
  mapping: { noun, name, reference, targetStatus },
}: {
  base: string
  mapping: Mapping
}) {
  const place = noun === 'course' ? 'courses' : 'learners'
  return (
    <>
      <a href={`${base}/dashboard/${place}/${encodeURIComponent(reference)}`}>
        {lineOf(name ?? reference, 120)}
      </a>
      {targetStatus === 'deleted' ? <small>Deleted</small> : null}
    </>
  )
}

function Deletion({
  signedIn,
  mapping: { id, externalKey },
}: {
  signedIn: SignedInRequest
  mapping: Mapping
}) {
  return (
    <Form signedIn={signedIn} label={`Delete mapping of ${lineOf(externalKey, 80)}`}>
      <input type="hidden" name="mappingId" value={id} />
      <button type="submit" class="quiet small" name="action" value="unmap">
        Delete<span class="unseen"> {lineOf(externalKey, 80)}</span>
      </button>
    </Form>
  )
}

function KeySearch({ signedIn: { base, request }, wanted }: { signedIn: SignedInRequest; wanted: string }) {
  const here = base + request.path
  return (
    <search>
      <form method="get" action={`${here}#mappings`} class="search" aria-label="Search mappings">
        <label for="key">{labels.externalKey}</label>
        <input id="key" name="key" value={wanted} maxlength={255} autocomplete="off" spellcheck={false} />
        <button type="submit" class="quiet">
          Search
        </button>
        {wanted === '' ? null : <a href={`${here}#mappings`}>Show all</a>}
      </form>
    </search>
  )
}

function MappingForm({ signedIn, form, fault }: FilledIn) {
  const noun = form.get('noun') ?? 'course'
  return (
    <Form signedIn={signedIn} label="Add a mapping">
      <Faults fault={fault} labels={labels} />
      <fieldset id="noun" tabindex={-1}>
        <legend>{labels.noun}</legend>
        {mappedNouns.map((each) => (
          <Choice type="radio" name="noun" value={each} checked={each === noun} words={each} />
        ))}
      </fieldset>
      <Field
        name="externalKey"
        label={labels.externalKey}
        fault={fault}
        value={form.get('externalKey') ?? ''}
        maxlength={255}
        required
        autocomplete="off"
        spellcheck={false}
      />
      <Field
        name="reference"
        label={labels.reference}
        hint="Id, ext:<externalId>, or email:<address> of a user"
        fault={fault}
        value={form.get('reference') ?? ''}
        maxlength={300}
        required
        autocomplete="off"
        spellcheck={false}
      />
      <div class="actions">
        <button type="submit" name="action" value="map">
          Save mapping
        </button>
      </div>
    </Form>
  )
}

export function mappingOf(form: URLSearchParams) {
  const noun = form.get('noun') ?? ''
  return {
    noun,
    externalKey: form.get('externalKey') ?? '',
    reference: referenceOf(noun, form.get('reference') ?? ''),
  }
}

/** In the API's form; an e-mail address needs no prefix. */
export function referenceOf(noun: string, text: string): string {
  const reference = text.trim()
  return noun === 'user' && /^[^:\s]+@[^@\s]+$/.test(reference) ? `email:${reference}` : reference
}
