import { isDay } from '../../codec/time-text.ts'
import { scopeInWords } from '../../contract/security-schemes.ts'
import { invalid } from '../problem/problem-error.ts'
import { Faults, Field, type FilledIn, Form, OnceField } from './form.tsx'

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
        hint="Valid through this day (UTC). Leave empty for a key that does not expire."
        fault={fault}
        type="date"
        value={dayIn(form)}
      />
      <div class="actions">
        <button type="submit">Create key</button>
      </div>
    </Form>
  )
}

/** What the form asks for, as the API takes it; throws 422 for what is no day. */
export function keyInputOf(form: URLSearchParams) {
  const day = dayIn(form)
  if (day !== '' && !isDay(day)) {
    throw invalid([
      { pointer: '#/expiresAt', code: 'invalid_time', detail: 'must be a day such as 2027-01-31' },
    ])
  }
  // A key that ends on a day is good until that day is over.
  const expiresAt = day === '' ? null : `${day}T23:59:59.999Z`
  return { name: form.get('name') ?? '', scopes: form.getAll('scopes'), expiresAt }
}

function dayIn(form: URLSearchParams): string {
  return form.get('expiresAt')?.trim() ?? ''
}
