import { isDay } from '../../codec/time-text.ts'
import { type Key, KeyInput, keys, type NewKey } from '../../contract/keys.ts'
import { scopeInWords } from '../../contract/oauth.ts'
import { addYear, findKey, revokeKey } from '../credentials/keys.ts'
import { writingOf } from '../pages/browser-session.ts'
import { invalid } from '../problem-error.ts'
import { askOwn, type SignedInRequest } from './call-api.ts'
import { confirmationPage, secretPage } from './form.tsx'
import { listPage } from './list.tsx'
import { bodyIn, type RecordForm } from './record-form.tsx'
import { Day, stateTag, takeLink } from './values.tsx'

const section = '/dashboard/keys'

/** The user's own, for every role; the API itself manages keys for admins only. */
const list = listPage<Key>({
  path: section,
  title: 'API keys',
  intro: (
    <>
      An API key lets a program act as you, within its scopes. Keep it secret, like a password. Pass it in{' '}
      <code>LEARNCTL_API_KEY</code>, or sign in with <code class="word">learnctl auth login --with-key</code>.
    </>
  ),
  operation: keys.list,
  isOwn: true,
  query: ({ user }) => ({ user_id: user.id }),
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
        cell: (key, signedIn) => stateTag(stateOf(key, signedIn)),
      },
      {
        name: 'Revoke',
        unseen: true,
        cell: ({ id, name, revokedAt }, signedIn) =>
          revokedAt ? '' : takeLink(signedIn, `${section}/${id}/revoke`, 'Revoke', name),
      },
    ],
  },
  none: 'No API keys yet.',
  create: {
    title: 'Create a key',
    form: keyForm,
    initial: ({ request }) => ({ scopes: ['read'], expiresAt: usualDay(request.now) }),
    again: 'key_made_before',
    submit: async (inside, form) => {
      const body = bodyIn(keyForm(inside), form)
      const isEndless = form.get('never') === 'true'
      const key = await askOwn(inside, keys.create, {
        body: { ...body, ...(isEndless && { expiresAt: null }) },
      })
      return newKeyPage(inside, key)
    },
  },
})

function stateOf({ revokedAt, expiresAt }: Key, { request }: SignedInRequest): string {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt <= request.now.toISOString() ? 'expired' : 'active'
}

function keyForm({ principal, request }: SignedInRequest): RecordForm {
  return {
    label: 'Create a key',
    button: 'Create key',
    body: KeyInput,
    isOnce: true,
    fields: [
      { name: 'name', label: 'Name', hint: 'What the key is for, such as nightly export' },
      {
        name: 'scopes',
        label: 'Scopes',
        choices: principal.scopes.map((scope) => ({
          value: scope,
          words: scope,
          meaning: scopeInWords[scope],
        })),
      },
      {
        name: 'expiresAt',
        label: 'Expiry date',
        hint: 'Last day on which the key works (UTC)',
        input: { type: 'date' },
        read: (text) => endOfDay(text.trim() || usualDay(request.now)),
      },
      {
        name: 'never',
        look: 'checkbox',
        label: 'Never expires',
        hint: 'Anyone who finds the key can use it until you revoke it',
      },
    ],
  }
}

function endOfDay(day: string): string {
  if (isDay(day)) return `${day}T23:59:59.999Z`
  throw invalid([
    { pointer: '#/expiresAt', code: 'invalid_time', detail: 'must be a day such as 2027-01-31' },
  ])
}

function usualDay(now: Date): string {
  return addYear(now.toISOString()).slice(0, 10)
}

function newKeyPage(signedIn: SignedInRequest, { key, name, scopes, expiresAt }: NewKey) {
  return secretPage(signedIn, {
    title: 'Your new key',
    section,
    name: 'key',
    secret: key,
    facts: [
      ['Name', name],
      ['Scopes', scopes.join(' ')],
      ['Expires', expiresAt === null ? 'Never' : `End of ${expiresAt.slice(0, 10)} (UTC)`],
    ],
    next: section,
  })
}

const revocation = confirmationPage({
  path: `${section}/:keyId/revoke`,
  section,
  find: ({ database, params, user }) => findKey(database, params['keyId'] ?? '', user.id),
  title: ({ name }) => `Revoke API key ${name}?`,
  question: ({ name, last4 }) => (
    <>
      <strong>{name}</strong> (<code>…{last4}</code>): programs that use it lose access immediately. This
      cannot be undone.
    </>
  ),
  button: 'Revoke key',
  act: (inside) =>
    revokeKey(writingOf(inside, inside.principal), inside.params['keyId'] ?? '', inside.user.id),
  done: 'key_revoked',
})

export const keyPages = [...list, revocation]
