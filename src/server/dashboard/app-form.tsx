import { Faults, Field, type FilledIn, Form, isFaulty, OnceField } from './form.tsx'

const labels = { name: 'Name', redirectUris: 'Redirect URIs', public: 'Type' }

/** The form that registers an application. */
export function AppForm({ signedIn, form, fault }: FilledIn) {
  const kinds = [
    ['confidential', 'Runs on a server that can keep a secret'],
    ['public', "Runs on users' own devices or in their browsers; gets no secret"],
  ] as const
  return (
    <Form signedIn={signedIn} label="Register an application">
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <Field
        name="name"
        label={labels.name}
        hint="Shown to users when they are asked for consent"
        fault={fault}
        value={form.get('name') ?? ''}
        maxlength={255}
        required
        autocomplete="off"
      />
      <label for="redirectUris">{labels.redirectUris}</label>
      <textarea
        id="redirectUris"
        name="redirectUris"
        rows={3}
        required
        spellcheck={false}
        aria-describedby="uris-hint"
        aria-invalid={isFaulty(fault, 'redirectUris')}
      >
        {form.get('redirectUris') ?? ''}
      </textarea>
      <p class="hint" id="uris-hint">
        One per line: https, or http on 127.0.0.1, [::1] or localhost
      </p>
      <fieldset id="public" tabindex={-1}>
        <legend>{labels.public}</legend>
        {kinds.map(([kind, meaning]) => (
          <label class="choice">
            <input type="radio" name="kind" value={kind} checked={kindIn(form) === kind} />
            <span>
              <strong>{kind}</strong>
              <small>{meaning}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="actions">
        <button type="submit">Register application</button>
      </div>
    </Form>
  )
}

/** What the form asks for, as the API takes it. */
export function appInputOf(form: URLSearchParams) {
  const lines = (form.get('redirectUris') ?? '').split(/\r?\n/).map((line) => line.trim())
  return {
    name: form.get('name') ?? '',
    redirectUris: lines.filter((line) => line !== ''),
    public: kindIn(form) === 'public',
  }
}

function kindIn(form: URLSearchParams): 'public' | 'confidential' {
  return form.get('kind') === 'public' ? 'public' : 'confidential'
}
