import type { App } from '../../contract/apps.ts'
import { ownClientId } from '../../contract/oauth.ts'
import type { ProblemError } from '../problem-error.ts'
import { Faults, Field, Form, isFaulty, OnceField } from './form.tsx'
import type { Guest } from './guest.ts'
import { Table } from './table.tsx'
import { Day } from './words.tsx'

/** What the form for a new application is filled in with. */
export interface AppFields {
  readonly name: string
  /** One to a line. */
  readonly redirectUris: string
  readonly kind: 'confidential' | 'public'
}

const labels = { name: 'Name', redirectUris: 'Redirect URIs', public: 'Kind' }

/** Applications, each with the way to delete it but for the one that is built in. */
export function AppTable({ guest, apps }: { guest: Guest; apps: readonly App[] }) {
  return (
    <Table
      caption="Applications, the newest first"
      columns={[
        { name: 'Name' },
        { name: 'Client id', look: 'broad' },
        { name: 'Kind' },
        { name: 'Redirect URIs', look: 'broad' },
        { name: 'Registered' },
        { name: 'Delete', unseen: true },
      ]}
      rows={apps.map((app) => [
        app.name,
        <code>{app.clientId}</code>,
        app.public ? 'public' : 'confidential',
        <ul class="plain">
          {app.redirectUris.map((uri) => (
            <li>
              <code>{uri}</code>
            </li>
          ))}
        </ul>,
        <Day time={app.createdAt} />,
        app.clientId === ownClientId ? (
          <span class="note word">built in</span>
        ) : (
          <a class="take" href={`${guest.base}/dashboard/apps/${encodeURIComponent(app.clientId)}/delete`}>
            Delete<span class="unseen"> {app.name}</span>
          </a>
        ),
      ])}
    />
  )
}

/** The form that registers an application. */
export function AppForm({
  guest,
  fields,
  fault,
}: {
  guest: Guest
  fields: AppFields
  fault: ProblemError | undefined
}) {
  const kinds = [
    ['confidential', 'It runs on a server that can keep a secret'],
    ['public', 'It runs on people’s own machines or in their browsers, and gets no secret'],
  ] as const
  return (
    <Form guest={guest} label="Register an application">
      <Faults fault={fault} labels={labels} />
      <OnceField guest={guest} />
      <Field
        name="name"
        label={labels.name}
        hint="People see it when they are asked for their consent."
        fault={fault}
        value={fields.name}
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
        {fields.redirectUris}
      </textarea>
      <p class="hint" id="uris-hint">
        One to a line: https, or http on 127.0.0.1, [::1] or localhost.
      </p>
      <fieldset id="public" tabindex={-1}>
        <legend>{labels.public}</legend>
        {kinds.map(([kind, meaning]) => (
          <label class="choice">
            <input type="radio" name="kind" value={kind} checked={fields.kind === kind} />
            <span>
              <strong>{kind}</strong>
              <small>{meaning}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="actions">
        <button type="submit">Register it</button>
      </div>
    </Form>
  )
}
