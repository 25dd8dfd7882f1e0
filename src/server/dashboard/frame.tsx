import type { Child } from 'hono/jsx'
import { analytics } from '../../contract/analytics.ts'
import { apps } from '../../contract/apps.ts'
import { audit } from '../../contract/audit.ts'
import { changes } from '../../contract/changes.ts'
import { phraseOf } from '../../contract/errors.ts'
import { integrations } from '../../contract/integrations.ts'
import type { RoleName } from '../../contract/operation.ts'
import { Hatching } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { type PageOptions, page, seeOther } from '../pages/page.tsx'
import type { ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'

const sections = {
  '/dashboard': 'Overview',
  '/dashboard/report': 'Report',
  '/dashboard/courses': 'Courses',
  '/dashboard/people': 'People',
  '/dashboard/activity': 'Activity',
  '/dashboard/integrations': 'Integrations',
  '/dashboard/keys': 'API keys',
  '/dashboard/apps': 'Applications',
  '/dashboard/changes': 'Changes',
  '/dashboard/audit': 'Audit log',
  '/dashboard/account': 'Account',
} as const

export type Section = keyof typeof sections

/** All if absent. */
const rolesOf: Partial<Record<Section, readonly RoleName[]>> = {
  '/dashboard/report': analytics.report.roles,
  '/dashboard/people': analytics.learners.roles,
  '/dashboard/activity': analytics.activity.roles,
  '/dashboard/apps': apps.list.roles,
  '/dashboard/integrations': integrations.list.roles,
  '/dashboard/changes': changes.list.roles,
  '/dashboard/audit': audit.list.roles,
}

interface FrameOptions extends Pick<PageOptions, 'title' | 'fault' | 'style'> {
  /** Absent for a refusal. */
  readonly section?: Section
  /** The title is a name, which keeps its capital. */
  readonly isName?: true
  readonly back?: readonly [href: string, words: Child]
  /** Default: the title; null if the content has it. */
  readonly heading?: Child
}

export function framePage(
  signedIn: SignedInRequest,
  { title, fault, section, isName, style, back, heading = title }: FrameOptions,
  ...content: readonly Child[]
): Reply {
  const note = noteOf(signedIn.query)
  return page(
    {
      title: fault && section ? `Error: ${isName ? title : withinSentence(title)}` : title,
      fault,
      style,
      headers: signedIn.visitor.headers,
      banner: <Banner signedIn={signedIn} section={section} />,
    },
    <>
      <Hatching />
      {note && signedIn.request.raw.method !== 'POST' ? (
        <p class="note-bar" role="status">
          {note}
        </p>
      ) : null}
      {back === undefined ? null : (
        <p class="back">
          <a href={back[0]}>{back[1]}</a>
        </p>
      )}
      {heading === null ? null : <h1>{heading}</h1>}
      {content}
    </>,
  )
}

/** `API keys` stays as it is. */
function withinSentence(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}

export function showRefusal(signedIn: SignedInRequest, fault: ProblemError): Reply {
  const title = fault.status === 404 ? 'Not found' : phraseOf[fault.status]
  return framePage(
    signedIn,
    { title, fault, heading: null },
    <div class="card">
      <h1>{title}</h1>
      <p role="alert">{fault.message}</p>
      <p class="note">
        Request <code>{signedIn.request.requestId}</code>
      </p>
      <p>
        <a href={`${signedIn.base}/dashboard`}>Back to the overview</a>
      </p>
    </div>,
  )
}

export function addressOf({ base }: SignedInRequest, path: `/dashboard${string}`, note?: NoteName): string {
  return `${base}${path}${note ? `?done=${note}` : ''}`
}

export function goTo(signedIn: SignedInRequest, path: `/dashboard${string}`, note: NoteName): Reply {
  return seeOther(addressOf(signedIn, path, note))
}

function Banner({ signedIn, section }: { signedIn: SignedInRequest; section: Section | undefined }) {
  const { base, user, request, visitor } = signedIn
  const shown = (Object.keys(sections) as Section[]).filter((path) => {
    const roles = rolesOf[path]
    return !roles || isRole(signedIn, ...roles)
  })
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="banner">
        <a class="mark" href={`${base}/dashboard`}>
          learnctl <span>academy</span>
        </a>
        <nav aria-label="Dashboard">
          <ul>
            {shown.map((path) => (
              <li>
                <a
                  href={base + path}
                  aria-current={path === section ? (path === request.path ? 'page' : 'true') : undefined}
                >
                  {sections[path]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <form method="post" action={`${base}/dashboard/sign-out`} class="who">
          <span>
            {user.email} <small>{user.role}</small>
          </span>
          <input type="hidden" name="csrf" value={visitor.csrf} />
          <button type="submit" class="quiet small">
            Sign out
          </button>
        </form>
      </header>
    </>
  )
}

/** Tabs that are false are left out. */
export function pageTabs(
  label: string,
  shown: string,
  tabs: readonly (readonly [href: string, name: string] | false)[],
): Child {
  const links = tabs.filter((tab) => tab !== false)
  return (
    <nav class="parts" aria-label={label}>
      <ul>
        {links.map(([href, name]) => (
          <li>
            <a href={href} aria-current={name === shown ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** By the value of `?done=`. */
const notes = {
  key_made_before:
    'This form was already submitted; no second key was created. The key is in the list; its value is shown only once.',
  key_revoked: 'API key revoked. Requests that use it are now refused.',
  app_made: 'Application registered.',
  app_made_before:
    'This form was already submitted; no second application was registered. If its secret is lost, delete the application and register it again.',
  app_deleted: 'Application deleted. All access that users granted it is revoked.',
  grant_revoked: 'Access revoked. The application can no longer act as you.',
  session_ended: 'Session ended. That browser has to sign in again.',
  integration_saved: 'Integration saved.',
  secret_made_before:
    'This form was already submitted; no second secret was generated. If the secret is lost, generate another one.',
  item_saved: 'Graded item saved.',
  item_deleted: 'Graded item deleted.',
  integration_removed: 'Integration removed.',
  mapping_saved: 'Mapping saved.',
  mapping_deleted: 'Mapping deleted.',
  delivery_replayed: 'Delivery processed again.',
  deliveries_replayed: 'Unmatched deliveries processed again, up to 100 of them.',
  endpoint_made_before:
    'This form was already submitted; no second endpoint was created. If its secret is lost, rotate it.',
  endpoint_updated: 'Endpoint updated.',
  endpoint_deleted: 'Endpoint deleted. Nothing more is sent to it.',
  endpoint_rotated_before: 'This form was already submitted. If the new secret is lost, rotate it once more.',
  endpoint_tested: 'Test event queued. Its message is the first one below.',
  calendar_made_before:
    'This form was already submitted; no second calendar was created. If its address is lost, revoke it and create another.',
  calendar_revoked: 'Calendar revoked. Its address no longer works.',
  message_resent: 'Message replayed: it is sent again.',
  other_sessions_ended: 'All other sessions ended.',
  password_changed: 'Password changed.',
} as const

export type NoteName = keyof typeof notes

export function noteOf(query: URLSearchParams): string | undefined {
  const name = query.get('done') ?? ''
  return Object.hasOwn(notes, name) ? notes[name as NoteName] : undefined
}
