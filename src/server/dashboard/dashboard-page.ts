import type { Reply } from '../http/reply.ts'
import { type WebRoute, withTransaction } from '../http/web-route.ts'
import { endSession, formOf } from '../pages/browser-session.ts'
import { hereOf, pageRoute, seeOther } from '../pages/page.tsx'
import { signIn, signInPage } from '../pages/sign-in.tsx'
import { ProblemError } from '../problem-error.ts'
import { type SignedInRequest, signedInRequestOf } from './call-api.ts'
import { noteOf, showRefusal } from './frame.tsx'

export interface DashboardPage {
  readonly path: `/dashboard${string}`
  readonly show: (signedIn: SignedInRequest) => Reply | Promise<Reply>
  /** True if `show` may read the whole academy; default: false. */
  readonly isLong?: (signedIn: SignedInRequest) => boolean
  /** After the CSRF token was checked. */
  readonly act?: (signedIn: SignedInRequest, form: URLSearchParams) => Reply | Promise<Reply>
  /** With the submitted form and its fault: 409, 422, 429, or 404 of a record that it names. */
  readonly again?: (
    signedIn: SignedInRequest,
    fault: ProblemError,
    form: URLSearchParams,
  ) => Reply | Promise<Reply>
}

const why = 'Sign in with your academy account to open the dashboard.'
const signedOut = 'You are signed out. Sign in to continue; your change was not saved.'

/** A visitor who is not signed in signs in on the page first. */
export function pageRoutesOf(page: DashboardPage): WebRoute[] {
  const { path, show, isLong } = page
  return [
    pageRoute({
      method: 'GET',
      path,
      handle(visit, visitor) {
        if (!visitor.user) return signInPage(visitor, { why: noteOf(visit.query) ?? why })
        const signedIn = signedInRequestOf(visit, visitor, visitor.user)
        const { database, longReads } = visit.academy
        return withRefusals(signedIn, () =>
          longReads && isLong?.(signedIn)
            ? longReads.answer(visit.request, signedIn.user.id)
            : database.read(async (view) => show(withTransaction(signedIn, view))),
        )
      },
    }),
    pageRoute({
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
        return withRefusals(signedIn, () => submitForm(page, signedIn, form))
      },
    }),
  ]
}

export const signOut = pageRoute({
  method: 'POST',
  path: '/dashboard/sign-out',
  async handle(visit, visitor) {
    await formOf(visit, visitor)
    const headers = await visit.academy.database.write((transaction) =>
      endSession(withTransaction(visit, transaction), visitor),
    )
    return seeOther(`${visit.base}/dashboard`, headers)
  },
})

/** 404, or a redirect if only a trailing slash is too many. */
export const noPage = pageRoute({
  method: 'GET',
  path: '/dashboard/*',
  handle(visit, visitor) {
    const { base, request } = visit
    const trimmed = withoutFinalSlashes(request.path)
    if (trimmed !== request.path) return seeOther(base + trimmed)
    const fault = new ProblemError('not_found', `Page ${request.path} not found.`)
    if (!visitor.user) throw fault
    return showRefusal(signedInRequestOf(visit, visitor, visitor.user), fault)
  },
})

/** Without a regular expression: `/\/+$/` takes quadratic time for many slashes. */
function withoutFinalSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

async function submitForm(
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

function isOfForm({ status, errors }: ProblemError): boolean {
  return [409, 422, 429].includes(status) || (status === 404 && errors !== undefined)
}

/** Shows a refusal below the navigation. Unexpected errors are rethrown, for a page without it. */
async function withRefusals(signedIn: SignedInRequest, work: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProblemError) return showRefusal(signedIn, error)
    throw error
  }
}
