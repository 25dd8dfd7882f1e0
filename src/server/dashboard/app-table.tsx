import type { App } from '../../contract/apps.ts'
import { ownClientId } from '../../contract/oauth.ts'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Day } from './value-text.tsx'

/** Applications, each with the way to delete it but for the one that is built in. */
export function AppTable({ signedIn, apps }: { signedIn: SignedInRequest; apps: readonly App[] }) {
  return (
    <Table
      caption="Applications, newest first"
      columns={[
        { name: 'Name' },
        { name: 'Client ID', look: 'broad' },
        { name: 'Type' },
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
          <span class="note word">Built in</span>
        ) : (
          <a class="take" href={`${signedIn.base}/dashboard/apps/${encodeURIComponent(app.clientId)}/delete`}>
            Delete<span class="unseen"> {app.name}</span>
          </a>
        ),
      ])}
    />
  )
}
