import { checkChoices } from '../command/choices.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import type { Flag } from '../command/flag.ts'
import { noColumns } from '../command/refusals.ts'
import type { SignInPlan } from '../sign-in/oauth-sign-in.ts'
import { UsageError } from '../terminal/errors.ts'

/** Flags of a sign-in with OAuth 2.0. */
const oauthFlags: readonly Flag[] = [
  {
    name: 'device',
    kind: 'switch',
    summary: 'Sign in by entering a code in a browser on any device',
  },
  {
    name: 'scopes',
    unlisted: ['--scope'],
    kind: 'words',
    placeholder: 'scopes',
    summary: 'Scopes to request (default all that your role allows; "read write" on other platforms)',
  },
  {
    name: 'browser',
    kind: 'switch',
    negatable: true,
    summary: 'Open the browser (--no-browser prints the URL)',
  },
  {
    name: 'client-id',
    kind: 'text',
    placeholder: 'id',
    summary: 'Client id of an application registered with the platform (default learnctl)',
  },
  {
    name: 'client-secret-stdin',
    kind: 'switch',
    summary: 'Read the client secret of that application from standard input',
  },
  {
    name: 'client-auth',
    kind: 'text',
    placeholder: 'method',
    choices: ['basic', 'post', 'none'],
    summary: 'How to send the client secret (default what the platform accepts)',
  },
  {
    name: 'redirect-uri',
    kind: 'text',
    placeholder: 'uri',
    summary: 'Redirect URI to listen on, as registered for that application',
  },
  {
    name: 'token-url',
    kind: 'text',
    placeholder: 'url',
    summary: 'Token endpoint to use instead of the one that the platform publishes',
  },
]

/** `learnctl auth login` */
export const login: Command = {
  name: 'login',
  summary: 'Sign in to a platform with a browser, a code or an API key',
  description: `Opens a sign-in page in the browser and waits up to 5 minutes. If the browser runs on another
machine, paste its final URL, or use --device, which needs no terminal and waits until its
code expires. Signing in creates a profile and makes it active.

An API key is read from standard input; on a terminal you are prompted for it, and it is not
shown. The client secret of an application may also come from LEARNCTL_CLIENT_SECRET.`,
  flags: [
    { name: 'with-key', kind: 'switch', summary: 'Sign in with an API key from standard input' },
    ...oauthFlags,
  ],
  refuses: { ...noColumns, database: 'A local academy needs no sign-in' },
  examples: [
    'auth login --url https://academy.example.org',
    'auth login --device --url https://academy.example.org --scopes read',
    'auth login --with-key --url https://academy.example.org < key.txt',
  ],
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const { flags } = given
  const device = flags['device'] === true
  checkChoices(oauthFlags, flags)
  if (flags['with-key'] === true) {
    exclude('--with-key', given, oauthFlags)
    return (await import('../sign-in/key-sign-in.ts')).signInWithKey(context)
  }
  if (device) {
    exclude(
      '--device',
      given,
      oauthFlags.filter(({ name }) => name === 'redirect-uri'),
    )
  }
  const plan = await (await import('../sign-in/sign-in-plan.ts')).planSignIn(context, given)
  if (plan !== null) await signIn(context, plan, device)
}

function exclude(way: string, { flags }: Given, others: readonly Flag[]): void {
  const other = others.find(({ name }) => flags[name] !== undefined)
  if (!other) return
  const name = flags[other.name] === false ? `no-${other.name}` : other.name
  throw new UsageError(`${way} and --${name} cannot be used together`)
}

async function signIn(context: Context, plan: SignInPlan, device: boolean): Promise<void> {
  const { signInWithBrowser, signInWithCode } = await import('../sign-in/oauth-sign-in.ts')
  const { reportSignedIn } = await import('../sign-in/oauth-sign-in.ts')
  await reportSignedIn(
    context,
    plan,
    await (device ? signInWithCode(context, plan) : signInWithBrowser(context, plan)),
  )
}
