import { cpSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { ZipFile } from 'yazl'
import { exitCode, InterruptedError } from '../../src/cli/terminal/errors.ts'
import type { Transport } from '../../src/contract/http.ts'
import { visit } from '../auth/school.ts'
import { givePassword, password } from '../server/oauth/flow.ts'
import { freshDirectory, hour, openTestAcademy, type Person, start, type TestAcademy } from './academy.ts'
import { plainBrowser } from './browser.ts'
import { type Ran, type RunOptions, splitWords, type TestCli, testCli, transportTo } from './cli.ts'
import { type CanvasSchool, canvasToken, fakeCanvas } from './fake-canvas.ts'
import { googleClient, openFakeClassroom } from './fake-classroom.ts'
import { createFakeSheets, sheetsClient, transportToGoogle } from './fake-sheets.ts'
import { connectTo } from './integration-source.ts'
import { type Ended, root, runLearnctl } from './process.ts'
import { type Learners, putQuickstart } from './quickstart.ts'
import { transportOf } from './web.ts'

/** Address of the platform in examples. */
const platform = 'https://academy.example.org'
const terminated = 143

/** Runs examples in a home as quickstart leaves it, with a platform for those that name one. */
export interface Examples {
  readonly cli: TestCli
  /** Restores what quickstart left. */
  reset(): void
  /** Runs a shell line that calls the program, after making what the line needs. */
  run(line: string, env?: Readonly<Record<string, string>>): Promise<Ran>
  /** Runs a line after those before it: makes only what the reader cannot make on this machine. */
  follow(line: string): Promise<Ran>
  close(): void
}

interface Place {
  readonly cli: TestCli
  /** The academy at the platform's address and its admin, made at the first need. */
  platform: { readonly academy: TestAcademy; readonly admin: Person } | null
  openBrowser: (url: string) => Promise<void>
  /** Receives the requests to Google Sheets. */
  google: Transport | null
  /** Databases that child processes serve, as named by the lines. */
  readonly serving: Set<string>
}

/** Makes what a line needs besides the result of quickstart; returns options for running it. */
type Need = (place: Place, line: string) => Promise<RunOptions>

type NeedOf = readonly [lines: RegExp, need: Need]

/** Needs that no earlier line can meet: channels, and other systems and platforms with their sign-in in a browser. */
const outside: readonly NeedOf[] = [
  [/^webhooks endpoints (test|update).*ENDPOINT_ID|TEAMS_WEBHOOK_URL/, channel],
  [/^integrations sign-in classroom/, signInToGoogle],
  [/^auth google|--to-sheet/, sheets],
  [/integration:classroom|^roster push classroom/, classroom],
  [/integration:canvas|--from canvas/, canvas],
  [/^auth login/, signIn],
  [/^roster (?!export)/, rosters],
]

const term = 'terms create --name "Spring 2027" --external-id 2027S'
const courseWithModules = 'courses apply -f marine-biology.yaml'
const groups = [
  'groups create --name "Class 5b" --external-id 5b',
  'groups create --name "Tuesday group" --external-id AAA-2014J-1',
  'groups members add 5b 11391',
]
const endpoint = 'webhooks endpoints create --to https://lms.example.org/hooks -o json'
const newestEndpoint = 'webhooks endpoints list --limit 1 -q'
const backup = 'server backup academy-backup.db --force'

/** Lines that cannot work on the result of quickstart alone. */
export const needs: readonly NeedOf[] = [
  ...outside,
  [/--profile work|^auth (logout|token)|^profiles delete/, signedIn],
  [/^courses restore [^ ]+$/, made('courses delete ext:first-course --force --yes')],
  [/^lessons restore [^ ]+$/, made('lessons delete ext:welcome --yes')],
  [/^courses copy ext:BIO-201/, made(courseWithModules, term)],
  [/^modules|^lessons move ext:bio/, made(courseWithModules)],
  [/^lessons (diff|restore) .* \d/, made('lessons update ext:welcome --title Welcome2')],
  [/^enrollments restore/, made('enrollments delete --course AAA-2014J --user 6516 --yes')],
  [/^groups restore/, made(...groups, 'groups delete 5b --yes')],
  [/^groups (get|update|delete|members).* 5b|^groups members import|--group 5b/, made(...groups)],
  [/^terms (get|update|delete)|--term/, made(term)],
  [/--pseudonym-key study\.key/, made('analytics pseudonym-key --file study.key')],
  [/^undo last/, made('courses update AAA-2013J AAA-2014J --language en')],
  [/^users restore/, made('users delete ext:11391 --yes')],
  [/^keys revoke/, named('KEY_ID', 'keys list -q', 'keys create --name ci')],
  [/CALENDAR_ID/, named('CALENDAR_ID', 'calendars list -q', 'calendars create --course AAA-2014J')],
  [
    /^apps delete/,
    named('CLIENT_ID', 'apps create --name Desk --redirect-uri http://127.0.0.1/ --public -q'),
  ],
  [/^auth grants revoke/, grant],
  [
    /RECORD_STORE_ID/,
    named(
      'RECORD_STORE_ID',
      newestEndpoint,
      'webhooks endpoints create --kind xapi --to https://lrs.example.org/xapi -o json',
    ),
  ],
  [/ENDPOINT_ID/, named('ENDPOINT_ID', newestEndpoint, endpoint)],
  [
    /MESSAGE_ID|^webhooks messages list .*replay/,
    named(
      'MESSAGE_ID',
      'webhooks messages list --limit 1 -q',
      ...[endpoint, `webhooks endpoints test "$(learnctl ${newestEndpoint})"`],
    ),
  ],
  [/DELIVERY_ID/, delivery],
  [/^webhooks send/, webhookSecret],
  [/AUDIT_HASH/, auditHash],
  [/^integrations (get|test) moodle/, made('integrations set moodle --generate-secret')],
  [/^integrations delete/, made('integrations set thinkific --grade-to-progress percent')],
  [/^integrations unmap/, made('integrations map canvas course 21070000000000565 ext:AAA-2013J')],
  [/^server new-encryption-key/, lostKey],
  [/^open/, serve],
  [
    /^server (snapshot (restore|delete)|exec --from-snapshot seeded)/,
    made('server snapshot save seeded --force'),
  ],
  [/^server restore|^server backup .*--force/, made(backup)],
  [/^server (copy|snapshot list --database)/, academyHere('academy.db')],
  [/^quickstart --database/, academyHere('trial.db')],
]

/** Returns the exit code with which a line succeeds: a comparison may find changes. */
export function successOf(line: string): number {
  return exitCode(/^(learnctl )?((courses|lessons|roster) )?diff /.test(line) ? 'drift' : 'ok')
}

/** Lines that start or end processes; they run in processes of their own. */
export const inProcesses = /^server (start|stop|exec)|^webhooks listen/

/** Makes a home with quickstart and the files that examples read. */
export async function openExamples(learners: Learners = 'all'): Promise<Examples> {
  let time = Date.parse(start) + hour
  const place: Place = {
    platform: null,
    google: null,
    openBrowser: async () => {},
    serving: new Set(),
    cli: testCli({
      transport: async (request) =>
        request.url.startsWith(platform)
          ? transportTo((await platformOf(place)).academy)(request)
          : (place.google ?? transportOf(fetch))(request),
      openBrowser: (url) => place.openBrowser(url),
      sleep: async (ms, signal) => {
        if (ms >= 300_000) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
        place.platform?.academy.clock.advance(ms)
      },
      // Each record gets its own time, so that lists have a fixed order.
      now: () => {
        time += 1
        return time
      },
      env: { DISPLAY: ':0' },
    }),
  }
  const { cli } = place
  const snapshot = freshDirectory()
  await putQuickstart(cli, learners)
  for (const [name, text] of shownFiles()) writeFileSync(join(cli.cwd, name), text)
  writeFileSync(join(cli.cwd, 'password.txt'), `${password}\n`)
  writeFileSync(join(cli.cwd, 'secret.txt'), 'the secret of another system\n')
  cpSync(cli.home, snapshot.path, { recursive: true })
  // Copy back, so that everything written from now on is newer.
  rmSync(cli.home, { recursive: true })
  cpSync(snapshot.path, cli.home, asTheyWere)
  const original = statesIn(cli.home)

  async function runWith(
    needs: readonly NeedOf[],
    line: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Ran> {
    const own = line.replace(/^learnctl /, '')
    const [, need] = needs.find(([lines]) => lines.test(own)) ?? []
    const options = (await need?.(place, own)) ?? {}
    if (inProcesses.test(own)) return inProcess(place, own)
    return runLine(cli, own, { ...options, env: { ...options.env, ...env } })
  }

  return {
    cli,
    reset() {
      // Most lines only read, or write one file.
      const states = statesIn(cli.home)
      for (const [name, state] of states) {
        if (original.get(name) !== state) rmSync(join(cli.home, name), { recursive: true, force: true })
      }
      for (const [name, state] of original) {
        if (states.get(name) === state) continue
        const path = join(cli.home, name)
        cpSync(join(snapshot.path, name), path, asTheyWere)
        // cpSync copies times in whole milliseconds.
        original.set(name, stateOf(path))
      }
    },
    run: (line, env) => runWith(needs, line, env),
    follow: (line) => runWith(outside, line),
    close() {
      cli.remove()
      snapshot.remove()
    },
  }
}

const asTheyWere = { recursive: true, preserveTimestamps: true }

/** Returns the state of each file in a folder by path; it changes with every write. */
function statesIn(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(names.map((name) => [name, stateOf(join(folder, name))]))
}

function stateOf(path: string): string {
  const file = lstatSync(path)
  return file.isDirectory() ? 'folder' : `${file.mode} ${file.size} ${file.mtimeMs}`
}

/** Returns the files that docs/recipes.md and docs/rosters.md show, named in the first line or after the language. */
export function shownFiles(): [name: string, text: string][] {
  const page = ['recipes', 'rosters']
    .map((name) => readFileSync(join(root, `docs/${name}.md`), 'utf8'))
    .join('\n')
  const documents = page.matchAll(/^```yaml\n(?<text># (?<name>[\w-]+\.yaml)\n[\s\S]*?)^```$/gm)
  const tables = page.matchAll(/^```\w+ (?<name>[\w.-]+)\n(?<text>[\s\S]*?)^```$/gm)
  return [...documents, ...tables].map(({ groups = {} }) => [groups['name'] ?? '', groups['text'] ?? ''])
}

async function platformOf(place: Place): Promise<NonNullable<Place['platform']>> {
  if (place.platform) return place.platform
  const academy = await openTestAcademy()
  onTestFinished(async () => {
    await academy.close()
    place.platform = null
  })
  const admin = await academy.person('admin')
  await givePassword(academy, admin.id)
  writeFileSync(join(place.cli.cwd, 'key.txt'), `${admin.key}\n`)
  place.platform = { academy, admin }
  return place.platform
}

/** Writes OneRoster packages, users of Moodle, and users of Kolibri. */
async function rosters({ cli }: Place): Promise<RunOptions> {
  const tuesday = { ...school, 'users.csv': school['users.csv'].replace('Hopper', 'Murray') }
  for (const [name, files] of Object.entries({ school, monday: school, tuesday })) {
    const zip = new ZipFile()
    for (const [file, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), file)
    zip.end()
    writeFileSync(join(cli.cwd, `${name}.zip`), await buffer(zip.outputStream))
  }
  for (const [name, text] of Object.entries(uploads)) writeFileSync(join(cli.cwd, name), text)
  return {}
}

/** A package with one class. */
const school = {
  'manifest.csv':
    'propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\nfile.classes,bulk\nfile.enrollments,bulk\nfile.orgs,bulk\nfile.users,bulk\n',
  'orgs.csv':
    'sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\nnorth,,,North School,school,,\n',
  'users.csv':
    'sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password\nS-1,,,true,north,student,grace,,Grace,Hopper,,,grace@school.example,,,,09,\nT-1,,,true,north,teacher,emmy,,Emmy,Noether,,,emmy@school.example,,,,,\n',
  'classes.csv':
    'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods\nALG-9,,,Algebra 9,09,,,scheduled,,north,,,,\n',
  'enrollments.csv':
    'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate\nE-1,,,ALG-9,north,S-1,student,,,\nE-2,,,ALG-9,north,T-1,teacher,true,,\n',
}

/** Files of other systems. */
const uploads = {
  'moodle-users.csv':
    'username,firstname,lastname,email,course1,role1\nmaria,Maria,Mitchell,maria@school.example,ASTRO,student\n',
  'kolibri-users.csv':
    'Username (USERNAME),Full name (FULL_NAME),User type (USER_TYPE),Learner enrollment (ENROLLED_IN)\nmary,Mary Anning,LEARNER,Fossils\n',
}

async function signIn(place: Place, line: string): Promise<RunOptions> {
  const { academy, admin } = await platformOf(place)
  const browser = plainBrowser(academy.fetch, platform)
  place.openBrowser = async (url) => {
    const page = await browser.signIn(await browser.open(url), admin.email, password)
    if (line.includes('--device')) {
      const consent = await browser.submit(page, page.forms[0]?.fields ?? {})
      await browser.submit(consent, {}, 'Allow')
      return
    }
    const { leadsTo } = await browser.submit(page, {}, 'Allow')
    const visiting = visit(leadsTo ?? '')
    onTestFinished(async () => void (await visiting))
  }
  return {}
}

async function signInToGoogle(place: Place): Promise<RunOptions> {
  await serveClassroom(place, { clientId: googleClient.id })
  allowAtGoogle(place)
  return {}
}

/** Serves a spreadsheet, and signs in unless the line does. */
async function sheets(place: Place, line: string): Promise<RunOptions> {
  const fake = createFakeSheets()
  place.google = transportToGoogle(fake)
  onTestFinished(() => {
    place.google = null
  })
  const signIn = `auth google --client-id ${sheetsClient.id} --client-secret-stdin`
  allowAtGoogle(place)
  if (!line.startsWith('auth google --client-id')) {
    const { code, stderr } = await place.cli.run(signIn, { stdin: googleClient.secret })
    expect(code, stderr).toBe(0)
  }
  return {}
}

/** Answers Google's sign-in page as a user who allows access. */
function allowAtGoogle(place: Place): void {
  writeFileSync(join(place.cli.cwd, 'secret.txt'), `${googleClient.secret}\n`)
  place.openBrowser = async (url) => {
    const { searchParams } = new URL(url)
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const answer = { state: searchParams.get('state') ?? '', code: '4/a-code' }
    for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value)
    const visiting = visit(back.href)
    onTestFinished(async () => void (await visiting))
  }
}

async function classroom(place: Place): Promise<RunOptions> {
  const { id: clientId, secret: clientSecret, refreshToken } = googleClient
  return serveClassroom(place, { clientId, clientSecret, refreshToken })
}

/** Serves a Classroom with one course and accounts for all users, and sets its integration anew. */
async function serveClassroom({ cli }: Place, client: object): Promise<RunOptions> {
  const fake = await openFakeClassroom()
  onTestFinished(() => fake.close())
  fake.addCourse('Biology')
  const { stdout } = await cli.run('users list --all -o csv --columns email')
  for (const email of stdout.trim().split(/\r?\n/).slice(1)) fake.addUser(email)
  const { url: baseUrl, tokenUrl } = fake
  // Secrets are not sent to another address than before.
  await cli.run('integrations delete classroom --yes')
  const set = 'api integrations.set classroom --body -'
  const { code, stderr } = await cli.run(set, { stdin: JSON.stringify({ baseUrl, tokenUrl, ...client }) })
  expect(code, stderr).toBe(0)
  return {}
}

async function canvas({ cli }: Place): Promise<RunOptions> {
  await connectTo(cli, 'canvas', fakeCanvas(smallSchool), canvasToken)
  return {}
}

/** A course with one learner. */
const smallSchool: CanvasSchool = {
  users: [{ id: 1, sis: 'ada', first: 'Ada', last: 'Lovelace' }],
  courses: [{ id: 21, sis: 'bio', name: 'Biology' }],
  enrollments: [{ course: 21, user: 1 }],
}

async function signedIn(place: Place): Promise<RunOptions> {
  const { admin } = await platformOf(place)
  const line = `auth login --with-key --url ${platform} --profile work`
  expect(await place.cli.run(line, { stdin: admin.key })).toMatchObject({ code: 0 })
  return {}
}

async function grant(place: Place): Promise<RunOptions> {
  await signIn(place, '')
  const line = `auth login --url ${platform} --scopes "read write admin"`
  expect(await place.cli.run(line)).toMatchObject({ code: 0 })
  return named('GRANT_ID', 'auth grants list -q')(place, '')
}

async function webhookSecret({ cli }: Place, line: string): Promise<RunOptions> {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const [, , kind = ''] = line.split(' ')
  const set = `integrations set ${kind} --webhook-secret-stdin`
  expect(await cli.run(set, { stdin: secret })).toMatchObject({ code: 0 })
  return { env: { LEARNCTL_WEBHOOK_SECRET: secret } }
}

async function channel(place: Place): Promise<RunOptions> {
  const line = 'webhooks endpoints create --kind slack --to https://hooks.slack.com/services/T0/B0/XXXX'
  const { env } = await named('ENDPOINT_ID', newestEndpoint, line)(place, '')
  return { env: { ...env, TEAMS_WEBHOOK_URL: 'https://prod-1.westeurope.logic.azure.com/workflows/1' } }
}

/** Inserts a delivery: only a server receives one. */
async function delivery(place: Place): Promise<RunOptions> {
  const database = new DatabaseSync(join(place.cli.home, '.local/share/learnctl/local.db'))
  database.exec(`
    insert or ignore into webhook_deliveries (id, lms_kind, delivery_key, event, status, missing, replays, received_at, processed_at)
    values ('whd_1', 'moodle', '1', 'user_graded', 'applied', '[]', 0, '${start}', '${start}')`)
  database.close()
  return named('DELIVERY_ID', 'webhooks deliveries list --limit 1 -q')(place, '')
}

async function auditHash(place: Place): Promise<RunOptions> {
  const { stdout } = await place.cli.run('audit verify -o json')
  return { env: { AUDIT_HASH: JSON.parse(stdout).hash } }
}

/** Runs lines before the one that needs their result. */
function made(...lines: readonly string[]): Need {
  return async ({ cli }) => {
    for (const line of lines) expect(await runLine(cli, line)).toMatchObject({ code: 0 })
    return {}
  }
}

/** Puts the id that a command prints into a variable, after other lines. */
function named(name: string, command: string, ...lines: readonly string[]): Need {
  return async (place, line) => {
    await made(...lines)(place, line)
    const { code, stdout } = await place.cli.run(command)
    expect(code).toBe(0)
    return { env: { [name]: stdout.trim() } }
  }
}

async function lostKey({ cli }: Place): Promise<RunOptions> {
  expect(await cli.run('integrations set openedx --generate-secret')).toMatchObject({ code: 0 })
  rmSync(join(cli.home, '.local/share/learnctl/local.db.key'))
  return {}
}

function academyHere(name: string): Need {
  return async ({ cli }) => {
    cpSync(join(cli.home, '.local/share/learnctl/local.db'), join(cli.cwd, name))
    return {}
  }
}

async function serve({ cli }: Place): Promise<RunOptions> {
  const controller = new AbortController()
  const { promise: printed, resolve } = Promise.withResolvers<string>()
  const ended = cli.run('server start --port 0', { signal: controller.signal, onStdout: resolve })
  onTestFinished(async () => {
    controller.abort(new InterruptedError('SIGTERM'))
    await ended
  })
  await printed
  return {}
}

/** Runs a line as a process. Without a port it gets a free one, because 4700 may be taken. */
async function inProcess({ cli: { cwd, home }, serving }: Place, line: string): Promise<Ran> {
  const learnctl = (splitWords: string, until?: RegExp, env: Readonly<Record<string, string>> = {}) =>
    runLearnctl(splitWords.split(' '), {
      cwd,
      env: { HOME: home, ...env },
      watch: (child) => {
        for (const stream of until ? [child.stdout, child.stderr] : []) {
          stream?.on('data', (text: Buffer) => until?.test(`${text}`) && child.kill())
        }
      },
    })
  const database = / --database \S+/.exec(line)?.[0] ?? ''
  const start = async (splitWords: string) => {
    serving.add(database)
    onTestFinished(async () => {
      if (serving.delete(database)) await learnctl(`server stop${database}`)
    })
    return learnctl(splitWords.includes('--port') ? splitWords : `${splitWords} --port 0`)
  }
  if (line.startsWith('server exec')) return ended(await learnctl(line))
  if (line.startsWith('server stop')) {
    if (!serving.has(database)) await start(`server start --detach${database}`)
    serving.delete(database)
    return ended(await learnctl(line))
  }
  if (line.includes('--detach')) return ended(await start(line))
  if (line.startsWith('webhooks listen')) {
    const { stdout } = await start('server start --detach --key-file listener-key.txt -o json')
    const key = readFileSync(join(cwd, 'listener-key.txt'), 'utf8').trim()
    const env = { LEARNCTL_URL: JSON.parse(stdout).url, LEARNCTL_API_KEY: key }
    const listened = await learnctl(line, /Listening/, env)
    return ended({ ...listened, code: listened.code === terminated ? 0 : listened.code })
  }
  const foreground = await learnctl(line.includes('--port') ? line : `${line} --port 0`, /http:/)
  return ended({ ...foreground, code: foreground.code === terminated ? 0 : foreground.code })
}

function ended({ code, stdout, stderr }: Ended): Ran {
  return { code: code ?? 1, stdout, stderr }
}

const substitution = /"?\$\(learnctl ([^)]*)\)"?/g

/**
 * Runs a shell line that calls the program, with the syntax that examples use: `$(learnctl …)`, `"$NAME"`, input and
 * output files (`<`, `>`), and a pipe into the program. It leaves out other programs after a pipe, and comments.
 */
export async function runLine(cli: TestCli, line: string, options: RunOptions = {}): Promise<Ran> {
  const [first = '', second] = line.split(' | learnctl ')
  if (second !== undefined) {
    const fed = await runLine(cli, first, options)
    return fed.code === 0 ? runLine(cli, second, { ...options, stdin: fed.stdout }) : fed
  }
  const [own = ''] = line.split(/ [|#] /)
  const [, command = '', arrow, file = ''] = /^(?:learnctl )?(.*?)(?: ([<>]) (\S+))?$/.exec(own.trim()) ?? []
  let text = command
  for (const [whole, inner = ''] of command.matchAll(substitution)) {
    const { code, stdout, stderr } = await cli.run(inner, options)
    if (code !== 0) return { code, stdout, stderr }
    text = text.replace(whole, stdout.trim())
  }
  text = text.replace(/"\$([A-Z_]+)"/g, (_, name: string) => options.env?.[name] ?? '')
  const path = join(cli.cwd, file)
  const ran = await cli.run(splitWords(text), {
    ...options,
    ...(arrow === '<' && { stdin: readFileSync(path, 'utf8') }),
  })
  if (arrow === '>') writeFileSync(path, ran.stdout)
  return ran
}
