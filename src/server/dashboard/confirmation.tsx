import type { Child } from 'hono/jsx'
import type { Reply } from '../http/reply.ts'
import { Form, OnceField } from './form.tsx'
import { addressOf, framed, type Section } from './frame.tsx'
import type { SignedInRequest } from './signed-in-request.ts'

/** The page between a link that takes something away and the deed: it needs no script. */
export function confirmation(
  signedIn: SignedInRequest,
  {
    title,
    section,
    button,
    cancel = section,
    once = false,
  }: {
    title: string
    section: Section
    button: string
    /** The page that it was asked from: that of the section unless told otherwise. */
    cancel?: `/dashboard${string}`
    /** True where doing it twice is something else than doing it once. */
    once?: boolean
  },
  question: Child,
): Reply {
  return framed(
    signedIn,
    { title, section },
    <div class="card short">
      <h1>{title}</h1>
      {question}
      <Form signedIn={signedIn} label={title}>
        {once ? <OnceField signedIn={signedIn} /> : null}
        <div class="actions">
          <button type="submit" class="danger">
            {button}
          </button>
          <a class="button" href={addressOf(signedIn, cancel)}>
            Cancel
          </a>
        </div>
      </Form>
    </div>,
  )
}
