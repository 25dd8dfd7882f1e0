import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { type ErrorStatus, phraseOf } from '../../contract/errors.ts'
import type { EndpointRequest } from '../http/endpoint.ts'
import type { Reply } from '../http/reply.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { ProblemError } from '../problem/problem-error.ts'
import { style, styleSource } from './style.ts'

/** How a page differs from the plain one. */
export interface PageOptions {
  readonly title: string
  /** What is refused, or was wrong with the form that the page shows again: it gives the status, headers and code. */
  readonly fault?: ProblemError | undefined
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where its forms may lead to besides this site, as a CSP source: browsers hold redirects to it, too. */
  readonly formTarget?: string | undefined
  /** What stands above the content, such as the navigation of the dashboard. */
  readonly banner?: Child
  /** One column in the middle, for a question to one person. */
  readonly narrow?: boolean
}

/** A page: HTML that needs nothing else, no script, no other file, and may be shown in no frame. */
export function page(options: PageOptions, content: Child): Reply {
  const { title, fault, headers, formTarget, banner, narrow } = options
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · learnctl academy`}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        {banner ?? <Mark />}
        <main id="content" tabindex={-1} class={narrow ? 'narrow' : undefined}>
          {content}
        </main>
      </body>
    </html>
  )
  return {
    status: fault?.status ?? 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        `style-src ${styleSource}`,
        `form-action 'self'${formTarget ? ` ${formTarget}` : ''}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      // With no-referrer a browser would say of every form that it came from nowhere (Fetch §3.1, "Origin").
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
      ...headers,
      ...fault?.headers,
    },
    body: `<!DOCTYPE html>${html}`,
    ...(fault && { code: fault.code }),
  }
}

function Mark() {
  return (
    <header class="banner">
      <span class="mark">
        learnctl <span>academy</span>
      </span>
    </header>
  )
}

/** The answer that leads on to another page: 303, so that going back does not send a form again. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 303, headers: { location, 'referrer-policy': 'same-origin', ...headers }, body: null }
}

/** The address that a visit came to, as a link. */
export function hereOf({ base, request }: EndpointRequest): string {
  return base + request.path + (request.search === '' ? '' : `?${request.search}`)
}

/** What a person makes little of in the words of HTTP. */
const titles: Partial<Record<ErrorStatus, string>> = {
  400: 'This link does not work',
  403: 'Not allowed',
}

/** A refusal as a page. */
export function refusalPage(fault: ProblemError, { requestId }: Pick<RequestContext, 'requestId'>): Reply {
  const title = titles[fault.status] ?? phraseOf[fault.status]
  return page(
    { title, fault, narrow: true },
    <div class="card">
      <h1>{title}</h1>
      <p>{fault.message}</p>
      <p class="note">
        Request <code>{requestId}</code>
      </p>
    </div>,
  )
}
