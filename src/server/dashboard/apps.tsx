import { type App, apps, type NewApp } from '../../contract/apps.ts'
import { type MachineScope, machineScopes } from '../../contract/constants.ts'
import { ownClientId } from '../../contract/oauth.ts'
import { findApp } from '../credentials/apps.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import {
  askToConfirm,
  Choice,
  Faults,
  Field,
  type FilledIn,
  Form,
  isFaulty,
  OnceField,
  submitOnce,
} from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { listPage } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { Day } from './values.tsx'

const section = '/dashboard/apps'

/** For admins. */
export const appsPage = listPage<App>({
  path: section,
  section,
  title: 'Applications',
  heading: 'OAuth applications',
  intro:
    'An application asks users for consent, then acts on their behalf within the scopes they allow. One with machine scopes also acts for itself, without a user: it reads the academy over OneRoster.',
  list: {
    id: 'apps',
    title: 'Registered applications',
    caption: 'Applications, newest first',
    columns: [
      { name: 'Name', cell: ({ name }) => name },
      { name: 'Client ID', look: 'broad', cell: ({ clientId }) => <code>{clientId}</code> },
      { name: 'Type', cell: (app) => (app.public ? 'public' : 'confidential') },
      {
        name: 'Redirect URIs',
        look: 'broad',
        cell: ({ redirectUris }) => <RedirectUris uris={redirectUris} />,
      },
      { name: 'Machine scopes', cell: ({ machineScopes: own }) => own.join(' ') || '–' },
      { name: 'Registered', cell: ({ createdAt }) => <Day time={createdAt} /> },
      {
        name: 'Delete',
        unseen: true,
        cell: ({ clientId, name }, { base }) =>
          clientId === ownClientId ? (
            <span class="note word">Built in</span>
          ) : (
            <a class="take" href={`${base}${section}/${encodeURIComponent(clientId)}/delete`}>
              Delete<span class="unseen"> {name}</span>
            </a>
          ),
      },
    ],
  },
  read: (signedIn) => ask(signedIn, apps.list, { query: pageQueryOf(signedIn) }),
  form: { title: 'Register an application', Fields: AppForm },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, section, 'app_made_before'), async (inside) => {
      const app = await ask(inside, apps.create, { body: appInputOf(form) })
      // A public app has no secret to show, so its page may be reloaded.
      return app.public ? seeOther(addressOf(signedIn, section, 'app_made')) : newAppPage(inside, app)
    }),
})

function RedirectUris({ uris }: { uris: readonly string[] }) {
  return (
    <ul class="plain">
      {uris.map((uri) => (
        <li>
          <code>{uri}</code>
        </li>
      ))}
    </ul>
  )
}

export const appDeletion: DashboardPage = {
  path: '/dashboard/apps/:clientId/delete',

  async show(signedIn) {
    requireRight(signedIn.principal, apps.delete)
    const { name, clientId } = await findApp(signedIn.database, signedIn.params['clientId'] ?? '')
    return askToConfirm(
      signedIn,
      { title: `Delete application ${name}?`, section, button: 'Delete application' },
      <p>
        <strong>{name}</strong> (<code>{clientId}</code>) loses all access that users granted it, immediately.
        This cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await write(signedIn, apps.delete, { params: { clientId: signedIn.params['clientId'] ?? '' } })
    return seeOther(addressOf(signedIn, section, 'app_deleted'))
  },
}

function newAppPage(
  signedIn: SignedInRequest,
  { name, clientId, clientSecret, redirectUris, machineScopes: own }: NewApp,
): Reply {
  return framePage(
    signedIn,
    { title: 'Your new application', section },
    <div class="card short">
      <h1>{name}</h1>
      <p role="status">Copy the client secret now. It will not be shown again.</p>
      <h2>Client secret</h2>
      <code class="code secret">{clientSecret}</code>
      <h2>Client ID</h2>
      <code class="code">{clientId}</code>
      {redirectUris.length > 0 && (
        <>
          <h2>Redirect URIs</h2>
          <RedirectUris uris={redirectUris} />
        </>
      )}
      {own.length > 0 && (
        <>
          <h2>Machine scopes</h2>
          <p>{own.join(' ')}</p>
        </>
      )}
      <p class="actions">
        <a class="button" href={addressOf(signedIn, section)}>
          Done
        </a>
      </p>
    </div>,
  )
}

const labels = {
  name: 'Name',
  redirectUris: 'Redirect URIs',
  public: 'Type',
  machineScopes: 'Machine scopes',
}

const machineScopeTexts: Readonly<Record<MachineScope, string>> = {
  'roster.readonly': 'Read people, courses, terms and enrolments',
  'gradebook.readonly': 'Read grades',
  'gradebook.createput': 'Create and change line items and grades',
  'gradebook.delete': 'Delete line items and grades',
}

function AppForm({ signedIn, form, fault }: FilledIn) {
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
        spellcheck={false}
        aria-describedby="uris-hint"
        aria-invalid={isFaulty(fault, 'redirectUris')}
      >
        {form.get('redirectUris') ?? ''}
      </textarea>
      <p class="hint" id="uris-hint">
        One per line: https, or http on 127.0.0.1, [::1] or localhost. Not needed with machine scopes
      </p>
      <fieldset id="public" tabindex={-1}>
        <legend>{labels.public}</legend>
        {kinds.map(([kind, meaning]) => (
          <Choice
            type="radio"
            name="kind"
            value={kind}
            checked={kindIn(form) === kind}
            words={kind}
            meaning={meaning}
          />
        ))}
      </fieldset>
      <fieldset id="machineScopes" tabindex={-1}>
        <legend>{labels.machineScopes}</legend>
        {machineScopes.map((scope) => (
          <Choice
            type="checkbox"
            name="machineScopes"
            value={scope}
            checked={form.getAll('machineScopes').includes(scope)}
            words={scope}
            meaning={machineScopeTexts[scope]}
          />
        ))}
      </fieldset>
      <div class="actions">
        <button type="submit">Register application</button>
      </div>
    </Form>
  )
}

function appInputOf(form: URLSearchParams) {
  const lines = (form.get('redirectUris') ?? '').split(/\r?\n/).map((line) => line.trim())
  return {
    name: form.get('name') ?? '',
    redirectUris: lines.filter((line) => line !== ''),
    public: kindIn(form) === 'public',
    machineScopes: form.getAll('machineScopes'),
  }
}

function kindIn(form: URLSearchParams): 'public' | 'confidential' {
  return form.get('kind') === 'public' ? 'public' : 'confidential'
}
