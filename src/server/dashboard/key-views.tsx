import type { Key } from '../../contract/keys.ts'
import { scopeInWords } from '../oauth/scope-text.ts'
import type { ProblemError } from '../problem-error.ts'
import { Faults, Field, Form, OnceField } from './form.tsx'
import type { Guest } from './guest.ts'
import { Table } from './table.tsx'
import { Day } from './words.tsx'

/** What the form for a new key is filled in with. */
export interface KeyFields {
  readonly name: string
  readonly scopes: readonly string[]
  /** The last day on which it is good, `YYYY-MM-DD`, or nothing. */
  readonly day: string
}

const labels = { name: 'Name', scopes: 'Scopes', expiresAt: 'Last day' }

/** Keys without their texts, each with the way to revoke it while it works. */
export function KeyTable({ guest, keys }: { guest: Guest; keys: readonly Key[] }) {
  const now = guest.request.now.toISOString()
  return (
    <Table
      caption="My keys, the newest first"
      columns={[
        { name: 'Name' },
        { name: 'Key' },
        { name: 'Scopes' },
        { name: 'Made' },
        { name: 'Last used' },
        { name: 'Ends' },
        { name: 'State' },
        { name: 'Revoke', unseen: true },
      ]}
      rows={keys.map((key) => {
        const state = key.revokedAt ? 'revoked' : key.expiresAt && key.expiresAt <= now ? 'expired' : 'active'
        return [
          key.name,
          <code>
            {key.prefix}…{key.last4}
          </code>,
          key.scopes.join(' '),
          <Day time={key.createdAt} />,
          <Day time={key.lastUsedAt} />,
          <Day time={key.expiresAt} />,
          <span class={`state ${state}`}>{state}</span>,
          state === 'revoked' ? (
            ''
          ) : (
            <a class="take" href={`${guest.base}/dashboard/keys/${encodeURIComponent(key.id)}/revoke`}>
              Revoke<span class="unseen"> {key.name}</span>
            </a>
          ),
        ]
      })}
    />
  )
}

/** The form for a new key; it offers the scopes that the guest's role can have. */
export function KeyForm({
  guest,
  fields,
  fault,
}: {
  guest: Guest
  fields: KeyFields
  fault: ProblemError | undefined
}) {
  return (
    <Form guest={guest} label="A new key">
      <Faults fault={fault} labels={labels} />
      <OnceField guest={guest} />
      <Field
        name="name"
        label={labels.name}
        hint="What it is for, such as: nightly export."
        fault={fault}
        value={fields.name}
        maxlength={255}
        required
        autocomplete="off"
      />
      <fieldset id="scopes" tabindex={-1}>
        <legend>{labels.scopes}</legend>
        {guest.principal.scopes.map((scope) => (
          <label class="choice">
            <input type="checkbox" name="scopes" value={scope} checked={fields.scopes.includes(scope)} />
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
        hint="In UTC. Without one it works until you revoke it."
        fault={fault}
        type="date"
        value={fields.day}
      />
      <div class="actions">
        <button type="submit">Create the key</button>
      </div>
    </Form>
  )
}
