/** A page as a browser without scripts shows it. */
export interface Shown {
  /** Address after all redirects that the browser followed. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** Without places where a line may break. */
  readonly html: string
  /** The visible text: without tags, with white space collapsed. */
  readonly text: string
  /** Target of a redirect to another origin, which the browser does not follow. */
  readonly leadsTo: string | null
  /** Fields of each form, by name, in the order of the page. */
  readonly forms: readonly Form[]
}

/** A form of a page. */
export interface Form {
  readonly action: string
  readonly method: string
  /** Initial values by name, those of hidden fields included. */
  readonly fields: Readonly<Record<string, string>>
  /** Names of checkboxes, radio buttons and selections. */
  readonly choices?: readonly string[]
  /** Name and value of each button. */
  readonly buttons: readonly { readonly name: string; readonly value: string; readonly label: string }[]
}

/** Values to fill in; a list ticks the checkboxes of one name. */
export type Filled = Readonly<Record<string, string | readonly string[]>>

/** A browser without scripts that keeps cookies and follows redirects within one origin. */
export interface PlainBrowser {
  open(url: string): Promise<Shown>
  /** Submits the form that has all these fields, or a button with this label, with these values filled in or ticked. */
  submit(page: Shown, fields: Filled, button?: string): Promise<Shown>
  readonly cookies: ReadonlyMap<string, string>
  /** Value of the Cookie header that it sends. */
  cookie(): string
  /** Deletes all cookies. */
  forget(): void
  /** Fills in and submits the sign-in page. */
  signIn(page: Shown, account: string, password: string): Promise<Shown>
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Characters by the references that our pages use. */
export function decodeText(html: string): string {
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
}

/** Opens a browser on a server; it sends requests only to `origin`. */
export function plainBrowser(send: (request: Request) => Promise<Response>, origin: string): PlainBrowser {
  const cookies = new Map<string, string>()
  const cookie = () => [...cookies].map((pair) => pair.join('=')).join('; ')

  async function request(address: string, init: RequestInit = {}): Promise<Shown> {
    // A browser does not send the fragment.
    const url = new URL(address.replace(/#.*/, ''), origin).href
    const headers = new Headers(init.headers)
    if (cookies.size > 0) headers.set('cookie', cookie())
    const response = await send(new Request(url, { ...init, headers, redirect: 'manual' }))
    for (const line of response.headers.getSetCookie()) keep(line)
    const location = response.headers.get('location')
    if (location !== null) {
      const target = new URL(location, url)
      // A redirect to another origin leads to another server.
      if (target.origin === new URL(origin).origin) return request(target.href)
      return shown(url, response, await response.text(), target.href)
    }
    return shown(url, response, await response.text(), null)
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';')
    const name = pair.slice(0, pair.indexOf('='))
    if (attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))) cookies.delete(name)
    else cookies.set(name, pair.slice(pair.indexOf('=') + 1))
  }

  async function submit(page: Shown, fields: Filled, button?: string): Promise<Shown> {
    const form = page.forms.find(
      (one) =>
        Object.keys(fields).every((name) => name in one.fields || one.choices?.includes(name)) &&
        (button === undefined || one.buttons.some(({ label }) => label === button)),
    )
    if (!form) throw new Error(`no such form on ${page.url}: ${page.text}`)
    const pressed = form.buttons.find(({ label }) => button === undefined || label === button)
    const sent: Filled = {
      ...form.fields,
      ...fields,
      ...(pressed?.name && { [pressed.name]: pressed.value }),
    }
    const body = new URLSearchParams(
      Object.entries(sent).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
    )
    const target = new URL(form.action || page.url, page.url)
    if (form.method === 'get') {
      target.search = `${body}`
      return request(target.href)
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(origin).origin }
    return request(target.href, { method: 'POST', headers, body })
  }

  return {
    cookies,
    cookie,
    forget: () => cookies.clear(),
    open: (url) => request(url),
    submit,
    signIn: (page, account, password) => submit(page, { account, password }),
  }
}

function shown(url: string, { status, headers }: Response, sent: string, leadsTo: string | null): Shown {
  const html = sent.replaceAll('<wbr/>', '')
  const text = decodeText(
    html
      .replace(/<(style|head)[\s\S]*?<\/\1>/g, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return { url, status, headers, html, text, leadsTo, forms: formsIn(html) }
}

function formsIn(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = '', inner = '']) => {
    const fields: Record<string, string> = {}
    const choices: string[] = []
    for (const [tag, text] of inner.matchAll(/<(?:input|select)\b[^>]*>|<textarea\b[^>]*>([^<]*)/g)) {
      const name = attribute(tag, 'name')
      const choosing = /type="(checkbox|radio)"/.test(tag)
      if (choosing) choices.push(name)
      if (name && !(choosing && !/\bchecked\b/.test(tag)))
        fields[name] = text === undefined ? attribute(tag, 'value') : decodeText(text)
    }
    const buttons = [...inner.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/g)].map(
      ([, tag = '', label = '']) => ({
        name: attribute(tag, 'name'),
        value: attribute(tag, 'value'),
        label: decodeText(label.replace(/<[^>]+>/g, '').trim()),
      }),
    )
    return {
      action: attribute(head, 'action'),
      method: attribute(head, 'method') || 'get',
      fields,
      choices,
      buttons,
    }
  })
}

function attribute(tag: string, name: string): string {
  return decodeText(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}
