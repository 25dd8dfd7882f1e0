import type { Child } from 'hono/jsx'
import { apps } from '../../contract/apps.ts'
import { audit } from '../../contract/audit.ts'
import { phraseOf } from '../../contract/errors.ts'
import { integrations } from '../../contract/integrations.ts'
import type { RoleName } from '../../contract/operation.ts'
import { isRole } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { type PageOptions, page } from '../pages/page.tsx'
import type { ProblemError } from '../problem/problem-error.ts'
import { Hatching } from './completion-chart.tsx'
import { type NoteName, noteIn } from './form-note.ts'
import type { SignedInRequest } from './signed-in-request.ts'

/** The parts of the dashboard, and the words of its navigation. */
const sections = {
  '/dashboard': 'Overview',
  '/dashboard/integrations': 'Integrations',
  '/dashboard/keys': 'API keys',
  '/dashboard/apps': 'Applications',
  '/dashboard/audit': 'Audit log',
  '/dashboard/account': 'Account',
} as const

/** A part of the dashboard, by the path of its first page. */
export type Section = keyof typeof sections

/** Who finds a part in the navigation, where not everybody does. */
const rolesOf: Partial<Record<Section, readonly RoleName[]>> = {
  '/dashboard/apps': apps.list.roles,
  '/dashboard/integrations': integrations.list.roles,
  '/dashboard/audit': audit.list.roles,
}

/** How a page of the dashboard differs from others. */
export interface FrameOptions extends Pick<PageOptions, 'title' | 'fault'> {
  /** Which part it belongs to; none for a refusal. */
  readonly section?: Section
}

/** A page of the dashboard: its content below the navigation. */
export function framed(
  signedIn: SignedInRequest,
  { title, fault, section }: FrameOptions,
  content: Child,
): Reply {
  const note = noteIn(signedIn.query)
  return page(
    {
      title,
      fault,
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
      {content}
    </>,
  )
}

/** A refusal below the navigation. */
export function refused(signedIn: SignedInRequest, fault: ProblemError): Reply {
  const title = fault.status === 404 ? 'Not found' : phraseOf[fault.status]
  return framed(
    signedIn,
    { title, fault },
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

/** The address of a page of the dashboard, with a note for it to show. */
export function addressOf({ base }: SignedInRequest, path: `/dashboard${string}`, note?: NoteName): string {
  return `${base}${path}${note ? `?done=${note}` : ''}`
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
