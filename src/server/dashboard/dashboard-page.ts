import { type Endpoint, within } from '../http/endpoint.ts'
import type { Reply } from '../http/reply.ts'
import { endSession, formOf } from '../pages/browser-session.ts'
import { hereOf, seeOther } from '../pages/page.tsx'
import { pageEndpoint } from '../pages/page-endpoint.ts'
import { signIn, signInPage } from '../pages/sign-in.tsx'
import { ProblemError } from '../problem/problem-error.ts'
import { noteIn } from './form-note.ts'
import { refused } from './frame.tsx'
import { type SignedInRequest, signedInRequestOf } from './signed-in-request.ts'

/** A page of the dashboard: what it shows, and what its forms do. */
export interface DashboardPage {
  readonly path: `/dashboard${string}`
  /** Reads only: it sees one snapshot. */
  readonly show: (signedIn: SignedInRequest) => Reply | Promise<Reply>
  /** True where what it shows may go through the whole academy; never unless told otherwise. */
  readonly isLong?: (signedIn: SignedInRequest) => boolean
  /** Takes a form of the page, its CSRF token checked; absent where the page has none of its own. */
  readonly act?: (signedIn: SignedInRequest, form: URLSearchParams) => Reply | Promise<Reply>
  /** The page once more, with the form as it was filled in and what was wrong with it (409, 422, 429, 404 of what it names). */
  readonly again?: (
    signedIn: SignedInRequest,
    fault: ProblemError,
    form: URLSearchParams,
  ) => Reply | Promise<Reply>
}

const why = 'Sign in with your academy account to open the dashboard.'
const signedOut = 'You are signed out. Sign in to continue; your change was not saved.'

/** GET and POST of a page. Whoever is not signed in is asked to, and comes back to it. */
export function endpointsOf(page: DashboardPage): Endpoint[] {
  const { path, show, isLong } = page
  return [
    pageEndpoint({
      method: 'GET',
      path,
      handle(visit, visitor) {
        if (!visitor.user) return signInPage(visitor, { why: noteIn(visit.query) ?? why })
        const signedIn = signedInRequestOf(visit, visitor, visitor.user)
        const { database, longReads } = visit.academy
        return held(signedIn, () =>
          longReads && isLong?.(signedIn)
            ? longReads.answer(visit.request, signedIn.user.id)
            : database.read(async (view) => show(within(signedIn, view))),
        )
      },
    }),
    pageEndpoint({
      method: 'POST',
      path,
      async handle(visit, visitor) {
        const form = await formOf(visit, visitor)
        const asksToSignIn = form.get('action') === 'sign_in'
        if (!visitor.user) {
          return asksToSignIn
            ? signIn(visit, visitor, form, { why })
            : signInPage(visitor, { why: signedOut })
        }
        if (asksToSignIn) return seeOther(hereOf(visit))
        const signedIn = signedInRequestOf(visit, visitor, visitor.user)
        return held(signedIn, () => acted(page, signedIn, form))
      },
    }),
  ]
}

/** What ends the session of a browser. */
export const signOut = pageEndpoint({
  method: 'POST',
  path: '/dashboard/sign-out',
  async handle(visit, visitor) {
    await formOf(visit, visitor)
    const headers = await visit.academy.database.write((transaction) =>
      endSession(within(visit, transaction), visitor),
    )
    return seeOther(`${visit.base}/dashboard`, headers)
  },
})

/** What answers below the dashboard where there is no page; a slash too many leads to the page without it. */
export const noPage = pageEndpoint({
  method: 'GET',
  path: '/dashboard/*',
  handle(visit, visitor) {
    const { base, request } = visit
    const trimmed = withoutFinalSlashes(request.path)
    if (trimmed !== request.path) return seeOther(base + trimmed)
    const fault = new ProblemError('not_found', `Page ${request.path} not found.`)
    if (!visitor.user) throw fault
    return refused(signedInRequestOf(visit, visitor, visitor.user), fault)
  },
})

/** Counted from the end: a pattern that looks for the end from each slash on takes the square of their number. */
function withoutFinalSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

async function acted(
  { act, again }: DashboardPage,
  signedIn: SignedInRequest,
  form: URLSearchParams,
): Promise<Reply> {
  if (!act) throw new ProblemError('invalid_parameter', 'This page does not accept forms.')
  try {
    return await act(signedIn, form)
  } catch (error) {
    if (again && error instanceof ProblemError && isOfForm(error)) return await again(signedIn, error, form)
    throw error
  }
}

/** True for what is wrong with what was filled in, also where it names what there is not. */
function isOfForm({ status, errors }: ProblemError): boolean {
  return [409, 422, 429].includes(status) || (status === 404 && errors !== undefined)
}

/** A refusal keeps the navigation; what nobody foresaw does without. */
async function held(signedIn: SignedInRequest, work: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProblemError) return refused(signedIn, error)
    throw error
  }
}
