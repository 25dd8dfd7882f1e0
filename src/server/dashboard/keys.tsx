import { keys, type NewKey } from '../../contract/keys.ts'
import { findKey, keyRoutes, revokeKey } from '../credentials/keys.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem/problem-error.ts'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { doneOnce } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { KeyForm, keyInputOf } from './key-form.tsx'
import { KeyTable } from './key-table.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { askOwn, type SignedInRequest, writeFor, writingOf } from './signed-in-request.ts'

const section = '/dashboard/keys'

/** One's own API keys, whatever one's role: the API itself has keys for admins only. */
export const keysPage: DashboardPage = {
  path: section,
  show: (signedIn) => keyList(signedIn),

  act: (signedIn, form) =>
    doneOnce(signedIn, form, addressOf(signedIn, section, 'key_made_before'), async (inside) =>
      newKeyPage(inside, await askOwn(inside, keyRoutes, keys.create, { body: keyInputOf(signedIn, form) })),
    ),

  again: keyList,
}

/** Asks whether a key is to be revoked, and revokes it. */
export const keyRevocation: DashboardPage = {
  path: '/dashboard/keys/:keyId/revoke',

  async show(signedIn) {
    const { name, last4 } = await findKey(signedIn.database, signedIn.params['keyId'] ?? '', signedIn.user.id)
    return confirmation(
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

async function keyList(
  signedIn: SignedInRequest,
  fault?: ProblemError,
  form = new URLSearchParams('scopes=read'),
): Promise<Reply> {
  const query = { user_id: signedIn.user.id, ...pageAsked(signedIn) }
  const { data, nextCursor } = await askOwn(signedIn, keyRoutes, keys.list, { query })
  return framed(
    signedIn,
    { title: fault ? 'Error: API keys' : 'API keys', section, fault },
    <>
      <h1>API keys</h1>
      <p>
        An API key lets a program act as you, within its scopes. Keep it secret, like a password. Pass it in{' '}
        <code>LEARNCTL_API_KEY</code>, or sign in with{' '}
        <code class="word">learnctl auth login --with-key</code>.
      </p>
      <section class="card" aria-labelledby="keys">
        <h2 id="keys">Your keys</h2>
        {data.length === 0 ? <p>No API keys yet.</p> : <KeyTable signedIn={signedIn} keys={data} />}
        {nextPage(signedIn, nextCursor)}
      </section>
      <section class="card short" aria-labelledby="new">
        <h2 id="new">Create a key</h2>
        <KeyForm signedIn={signedIn} form={form} fault={fault} />
      </section>
    </>,
  )
}

function newKeyPage(signedIn: SignedInRequest, { key, name, scopes, expiresAt }: NewKey): Reply {
  return framed(
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
