import { isDay } from '../../codec/time-text.ts'
import { type Key, keys, type NewKey } from '../../contract/keys.ts'
import { scopeInWords } from '../../contract/oauth.ts'
import { addYear, findKey, revokeKey } from '../credentials/keys.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { invalid } from '../problem-error.ts'
import { askOwn, type SignedInRequest, writeFor, writingOf } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { askToConfirm, Choice, Faults, Field, type FilledIn, Form, OnceField, submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { listPage } from './list.tsx'
import { type PageQuery, pageQueryOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { Day } from './values.tsx'

const section = '/dashboard/keys'

/** The user's own. */
export const keysFile: TableFile = { path: section, operation: keys.list, read: readKeys }

/** The user's own, for every role; the API itself manages keys for admins only. */
export const keysPage = listPage<Key>({
  path: section,
  section,
  title: 'API keys',
  intro: (
    <>
      An API key lets a program act as you, within its scopes. Keep it secret, like a password. Pass it in{' '}
      <code>LEARNCTL_API_KEY</code>, or sign in with <code class="word">learnctl auth login --with-key</code>.
    </>
  ),
  list: {
    id: 'keys',
    title: 'Your keys',
    caption: 'Your keys, newest first',
    columns: [
      { name: 'Name', cell: ({ name }) => name },
      {
        name: 'Key',
        cell: ({ prefix, last4 }) => (
          <code>
            {prefix}…{last4}
          </code>
        ),
      },
      { name: 'Scopes', cell: ({ scopes }) => scopes.join(' ') },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      { name: 'Last used', cell: ({ lastUsedAt }) => <Day time={lastUsedAt} /> },
      { name: 'Expires', cell: ({ expiresAt }) => <Day time={expiresAt} /> },
      {
        name: 'State',
        cell: (key, signedIn) => (
          <span class={`state ${stateOf(key, signedIn)}`}>{stateOf(key, signedIn)}</span>
        ),
      },
      {
        name: 'Revoke',
        unseen: true,
        cell: ({ id, name, revokedAt }, { base }) =>
          revokedAt ? (
            ''
          ) : (
            <a class="take" href={`${base}${section}/${encodeURIComponent(id)}/revoke`}>
              Revoke<span class="unseen"> {name}</span>
            </a>
          ),
      },
    ],
  },
  read: (signedIn) => readKeys(signedIn, pageQueryOf(signedIn)),
  file: keysFile,
  none: () => <p>No API keys yet.</p>,
  form: { title: 'Create a key', initial: 'scopes=read', Fields: KeyForm },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, section, 'key_made_before'), async (inside) =>
      newKeyPage(inside, await askOwn(inside, keys.create, { body: keyInputOf(signedIn, form) })),
    ),
})

function readKeys(signedIn: SignedInRequest, page: PageQuery) {
  return askOwn(signedIn, keys.list, { query: { user_id: signedIn.user.id, ...page } })
}

function stateOf({ revokedAt, expiresAt }: Key, { request }: SignedInRequest): string {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt <= request.now.toISOString() ? 'expired' : 'active'
}

export const keyRevocation: DashboardPage = {
  path: '/dashboard/keys/:keyId/revoke',

  async show(signedIn) {
    const { name, last4 } = await findKey(signedIn.database, signedIn.params['keyId'] ?? '', signedIn.user.id)
    return askToConfirm(
      signedIn,
      { title: `Revoke API key ${name}?`, section, button: 'Revoke key' },
      <p>
        <strong>{name}</strong> (<code>…{last4}</code>): programs that use it lose access immediately. This
        cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    const { params, user } = signedIn
    await writeFor(signedIn, (inside) => revokeKey(writingOf(inside), params['keyId'] ?? '', user.id))
    return seeOther(addressOf(signedIn, section, 'key_revoked'))
  },
}

function newKeyPage(signedIn: SignedInRequest, { key, name, scopes, expiresAt }: NewKey): Reply {
  return framePage(
    signedIn,
    { title: 'Your new key', section },
    <div class="card short">
      <h1>Your new key</h1>
      <p role="status">Copy the key now. It will not be shown again.</p>
      <code class="code secret">{key}</code>
      <dl class="facts">
        <dt>Name</dt>
        <dd>{name}</dd>
        <dt>Scopes</dt>
        <dd>{scopes.join(' ')}</dd>
        <dt>Expires</dt>
        <dd>{expiresAt === null ? 'Never' : `End of ${expiresAt.slice(0, 10)} (UTC)`}</dd>
      </dl>
      <p class="actions">
        <a class="button" href={addressOf(signedIn, section)}>
          Done
        </a>
      </p>
    </div>,
  )
}

const labels = { name: 'Name', scopes: 'Scopes', expiresAt: 'Expiry date' }

/** With the scopes that the user's role allows. */
function KeyForm({ signedIn, form, fault }: FilledIn) {
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
          <Choice
            type="checkbox"
            name="scopes"
            value={scope}
            checked={chosen.includes(scope)}
            words={scope}
            meaning={scopeInWords[scope]}
          />
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
      <Choice
        type="checkbox"
        name="never"
        value="true"
        checked={form.get('never') === 'true'}
        words="Never expires"
        meaning="Anyone who finds the key can use it until you revoke it"
      />
      <div class="actions">
        <button type="submit">Create key</button>
      </div>
    </Form>
  )
}

/** Throws 422 if the expiry date is not a day. */
function keyInputOf({ request }: SignedInRequest, form: URLSearchParams) {
  const name = form.get('name') ?? ''
  const scopes = form.getAll('scopes')
  if (form.get('never') === 'true') return { name, scopes, expiresAt: null }
  const day = dayIn(form) || usualDay(request.now)
  if (!isDay(day)) {
    throw invalid([
      { pointer: '#/expiresAt', code: 'invalid_time', detail: 'must be a day such as 2027-01-31' },
    ])
  }
  // The key works until the end of its last day.
  return { name, scopes, expiresAt: `${day}T23:59:59.999Z` }
}

function usualDay(now: Date): string {
  return addYear(now.toISOString()).slice(0, 10)
}

/** Undefined before the form is submitted. */
function dayIn(form: URLSearchParams): string | undefined {
  return form.get('expiresAt')?.trim()
}
