import { isDay } from '../../codec/time-text.ts'
import { scopeInWords } from '../../contract/security-schemes.ts'
import { aYearAfter } from '../credentials/keys.ts'
import { invalid } from '../problem/problem-error.ts'
import { Faults, Field, type FilledIn, Form, OnceField } from './form.tsx'
import type { SignedInRequest } from './signed-in-request.ts'

const labels = { name: 'Name', scopes: 'Scopes', expiresAt: 'Expiry date' }

/** The form for a new key; it offers the scopes that the role of who is signed in can have. */
export function KeyForm({ signedIn, form, fault }: FilledIn) {
  const chosen = form.getAll('scopes')
  return (
    <Form signedIn={signedIn} label="Create a key">
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <Field
        name="name"
        label={labels.name}
        hint="What the key is for, such as nightly export"
        fault={fault}
        value={form.get('name') ?? ''}
        maxlength={255}
        required
        autocomplete="off"
      />
      <fieldset id="scopes" tabindex={-1}>
        <legend>{labels.scopes}</legend>
        {signedIn.principal.scopes.map((scope) => (
          <label class="choice">
            <input type="checkbox" name="scopes" value={scope} checked={chosen.includes(scope)} />
            <span>
              <strong>{scope}</strong>
              <small>{scopeInWords[scope]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <Field
        name="expiresAt"
        label={labels.expiresAt}
        hint="Last day on which the key works (UTC)"
        fault={fault}
        type="date"
        value={dayIn(form) ?? usualDay(signedIn.request.now)}
      />
      <label class="choice">
        <input type="checkbox" name="never" value="true" checked={form.get('never') === 'true'} />
        <span>
          <strong>Never expires</strong>
          <small>Anyone who finds the key can use it until you revoke it</small>
        </span>
      </label>
      <div class="actions">
        <button type="submit">Create key</button>
      </div>
    </Form>
  )
}

/** What the form asks for, as the API takes it; throws 422 for what is no day. */
export function keyInputOf({ request }: SignedInRequest, form: URLSearchParams) {
  const name = form.get('name') ?? ''
  const scopes = form.getAll('scopes')
  if (form.get('never') === 'true') return { name, scopes, expiresAt: null }
  const day = dayIn(form) || usualDay(request.now)
  if (!isDay(day)) {
    throw invalid([
      { pointer: '#/expiresAt', code: 'invalid_time', detail: 'must be a day such as 2027-01-31' },
    ])
  }
  // A key that ends on a day is good until that day is over.
  return { name, scopes, expiresAt: `${day}T23:59:59.999Z` }
}

/** The last day of a key, unless another is asked for. */
function usualDay(now: Date): string {
  return aYearAfter(now.toISOString()).slice(0, 10)
}

/** What stands in the field; undefined before anybody has filled in the form. */
function dayIn(form: URLSearchParams): string | undefined {
  return form.get('expiresAt')?.trim()
}
