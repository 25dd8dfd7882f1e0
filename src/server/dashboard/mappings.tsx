import { mappedNouns } from '../../contract/integration-choices.ts'
import type { Mapping } from '../../contract/mapping.ts'
import { Faults, Field, type FilledIn, Form } from './form.tsx'
import { nextPage } from './paging.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day, shown } from './value-text.tsx'

const labels = { noun: 'Kind', externalKey: 'Id in the other system', reference: 'Course or user here' }

/** What the courses and users of another system are here, and the form for another one. */
export function Mappings({
  signedIn,
  form,
  fault,
  page: { data, nextCursor },
}: FilledIn & { page: { readonly data: readonly Mapping[]; readonly nextCursor: string | null } }) {
  const key = signedIn.query.get('key') ?? ''
  return (
    <section class="card" aria-labelledby="mappings">
      <h2 id="mappings">Mappings</h2>
      <p>
        Courses and users are found by their external ids and e-mail addresses. A mapping names the ones that
        are not.
      </p>
      {data.length > 0 || key !== '' ? <KeySearch signedIn={signedIn} wanted={key} /> : null}
      {data.length > 0 ? (
        <MappingTable signedIn={signedIn} mappings={data} />
      ) : (
        <p>{key === '' ? 'No mappings yet.' : 'No mappings match.'}</p>
      )}
      {nextPage(signedIn, nextCursor)}
      <h3>Add a mapping</h3>
      <MappingForm {...{ signedIn, form, fault }} />
    </section>
  )
}

function KeySearch({
  signedIn: { base, request },
  wanted,
}: {
  signedIn: SignedInRequest
  /** What is looked for; empty for all. */
  wanted: string
}) {
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

function MappingTable({ signedIn, mappings }: { signedIn: SignedInRequest; mappings: readonly Mapping[] }) {
  return (
    <Table
      caption="Mappings, newest first"
      columns={[
        { name: 'Id in the other system' },
        { name: 'Kind' },
        { name: 'Course or user here', look: 'broad' },
        { name: 'Changed' },
        { name: 'Delete', unseen: true },
      ]}
      rows={mappings.map(({ id, noun, externalKey, name, reference, targetStatus, updatedAt }) => [
        <code>{shown(externalKey, 80)}</code>,
        noun,
        <>
          <a
            href={`${signedIn.base}/dashboard/${noun === 'course' ? 'courses' : 'learners'}/${encodeURIComponent(reference)}`}
          >
            {shown(name ?? reference, 120)}
          </a>
          {targetStatus === 'deleted' ? <small>Deleted</small> : null}
        </>,
        <Day time={updatedAt} />,
        <Form signedIn={signedIn} label={`Delete mapping of ${shown(externalKey, 80)}`}>
          <input type="hidden" name="mappingId" value={id} />
          <button type="submit" class="quiet small" name="action" value="unmap">
            Delete<span class="unseen"> {shown(externalKey, 80)}</span>
          </button>
        </Form>,
      ])}
    />
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
          <label class="choice">
            <input type="radio" name="noun" value={each} checked={each === noun} />
            <span>{each}</span>
          </label>
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

/** What the form asks for, as the API takes it. */
export function mappingOf(form: URLSearchParams) {
  const noun = form.get('noun') ?? ''
  return {
    noun,
    externalKey: form.get('externalKey') ?? '',
    reference: referenceOf(noun, form.get('reference') ?? ''),
  }
}

/** A reference as the API takes it; an e-mail address needs no prefix. */
export function referenceOf(noun: string, text: string): string {
  const reference = text.trim()
  return noun === 'user' && /^[^:\s]+@[^@\s]+$/.test(reference) ? `email:${reference}` : reference
}
