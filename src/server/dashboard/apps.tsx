import { apps, type NewApp } from '../../contract/apps.ts'
import { appRoutes, findApp } from '../credentials/apps.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem/problem-error.ts'
import { AppForm, appInputOf } from './app-form.tsx'
import { AppTable } from './app-table.tsx'
import { confirmation } from './confirmation.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { doneOnce } from './form.tsx'
import { addressOf, framed } from './frame.tsx'
import { nextPage, pageAsked } from './paging.tsx'
import { ask, type SignedInRequest, writeFor } from './signed-in-request.ts'

const section = '/dashboard/apps'

/** OAuth 2.0 applications, for admins: which there are, and the form that registers one. */
export const appsPage: DashboardPage = {
  path: section,
  show: (signedIn) => appList(signedIn),

  act: (signedIn, form) =>
    doneOnce(signedIn, form, addressOf(signedIn, section, 'app_made_before'), async (inside) => {
      const app = await ask(inside, appRoutes, apps.create, { body: appInputOf(form) })
      // What shows no secret may be loaded again.
      return app.public ? seeOther(addressOf(signedIn, section, 'app_made')) : newAppPage(inside, app)
    }),

  again: appList,
}

/** Asks whether an application is to be deleted, and deletes it. */
export const appDeletion: DashboardPage = {
  path: '/dashboard/apps/:clientId/delete',

  async show(signedIn) {
    requireRight(signedIn.principal, apps.delete)
    const { name, clientId } = await findApp(signedIn.database, signedIn.params['clientId'] ?? '')
    return confirmation(
      signedIn,
      { title: `Delete application ${name}?`, section, button: 'Delete application' },
      <p>
        <strong>{name}</strong> (<code>{clientId}</code>) loses all access that users granted it, immediately.
        This cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await writeFor(signedIn, (inside) =>
      ask(inside, appRoutes, apps.delete, { params: { clientId: signedIn.params['clientId'] ?? '' } }),
    )
    return seeOther(addressOf(signedIn, section, 'app_deleted'))
  },
}

async function appList(
  signedIn: SignedInRequest,
  fault?: ProblemError,
  form = new URLSearchParams(),
): Promise<Reply> {
  const { data, nextCursor } = await ask(signedIn, appRoutes, apps.list, { query: pageAsked(signedIn) })
  return framed(
    signedIn,
    { title: fault ? 'Error: applications' : 'Applications', section, fault },
    <>
      <h1>OAuth applications</h1>
      <p>An application asks users for consent, then acts on their behalf within the scopes they allow.</p>
      <section class="card" aria-labelledby="apps">
        <h2 id="apps">Registered applications</h2>
        <AppTable signedIn={signedIn} apps={data} />
        {nextPage(signedIn, nextCursor)}
      </section>
      <section class="card short" aria-labelledby="new">
        <h2 id="new">Register an application</h2>
        <AppForm signedIn={signedIn} form={form} fault={fault} />
      </section>
    </>,
  )
}

function newAppPage(
  signedIn: SignedInRequest,
  { name, clientId, clientSecret, redirectUris }: NewApp,
): Reply {
  return framed(
    signedIn,
    { title: 'Your new application', section },
    <div class="card short">
      <h1>{name}</h1>
      <p role="status">Copy the client secret now. It will not be shown again.</p>
      <h2>Client secret</h2>
      <code class="code secret">{clientSecret}</code>
      <h2>Client ID</h2>
      <code class="code">{clientId}</code>
      <h2>Redirect URIs</h2>
      <ul class="plain">
        {redirectUris.map((uri) => (
          <li>
            <code>{uri}</code>
          </li>
        ))}
      </ul>
      <p class="actions">
        <a class="button" href={addressOf(signedIn, section)}>
          Done
        </a>
      </p>
    </div>,
  )
}
