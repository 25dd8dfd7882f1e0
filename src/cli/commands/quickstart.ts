import { escapeHidden, shellWord } from '../../codec/display-text.ts'
import type { Environment } from '../../config/directories.ts'
import { isLocal, localProfile } from '../../config/profiles.ts'
import type { analytics } from '../../contract/analytics.ts'
import type { Answer } from '../../contract/operation.ts'
import { type Command, noColumns, type RunLine } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { wrap } from '../terminal/format-text.ts'

const exportFile = 'learners.csv'

export const quickstartCommand = (runLine: RunLine): Command => ({
  name: 'quickstart',
  summary: 'Create a local academy with example data',
  writes: ['academy', 'machine', 'files'],
  prints: ['Quickstart'],
  description: `Creates an academy with real learners in a SQLite file, and shows the first commands to try. No server or account is needed. The academy is saved as profile ${localProfile}, which becomes active if no other profile is. Running it again changes nothing.\n\nThe learners are part of the Open University Learning Analytics Dataset (CC BY 4.0).`,
  createsAcademy: true,
  refuses: {
    ...noColumns,
    quiet: 'It shows the password of the academy, which is shown only once',
    profile: `The academy is saved as profile ${localProfile}`,
    url: 'The academy is created on this machine',
    dryRun: 'It only creates an academy on this machine',
  },
  examples: ['quickstart', 'quickstart --database ./trial.db'],
  run: (context) => run(context, runLine),
})

async function run(context: Context, runLine: RunLine): Promise<void> {
  const { session, settings, output } = context
  const { database, prefix, active, saveProfile } = chooseDatabase(context)
  const say = createNarrator(context)

  const academy = await session.open({ silent: true })
  const { created } = academy
  // Saved only now, so that a failure to create the academy leaves no profile.
  await saveProfile()
  await say(
    created
      ? `Created an academy in ${escapeHidden(database)}`
      : `Found an academy in ${escapeHidden(database)}`,
  )
  if (active) await say(active)
  const learners = await addLearners(context)
  await say(learners)

  await say('\nCreating a course with two lessons:')
  const type = createLineRunner(context, prefix, say, runLine)
  await makeCourse(context, type, say)

  await say('\nExporting the learners as CSV:')
  const exported = await exportOnce(context, prefix, say)

  await say('\nSummarising their progress:')
  await say(`  $ ${prefix} analytics summary\n`)
  const summary = await summarise(context)

  // Printed at once: the password cannot be shown again.
  const first = await academy.makeFirstPassword()
  if (first) {
    await say(
      '\nTo sign in to the dashboard once `server start` is running (the password is shown only once):',
    )
    await say(`  ${first.email}\n  ${first.password}`)
  }

  const next = [
    `${prefix} courses list`,
    `${prefix} progress get ext:11391`,
    `${prefix} analytics export --start-date 2014-10-01 --file 2014.csv`,
    `${prefix} keys create --name first --scopes read,write,admin`,
    `${prefix} server start`,
    `${prefix} --help`,
  ]
  await say(`\nTry next:\n${next.map((line) => `  ${line}`).join('\n')}`)
  if (settings.output.value !== 'table') {
    await output.document({ database, created, export: exported, summary, ...first, next })
  }
}

type Say = (line: string) => Promise<void>

function createNarrator({ io, settings, output }: Context): Say {
  const width = io.stdout.isTTY ? (io.stdout.columns ?? 80) : Number.POSITIVE_INFINITY
  // Indented lines are meant to be copied, so they are not wrapped.
  const wrapLine = (line: string) => (line.startsWith('  ') ? [line] : wrap(line, width))
  return async (text) => {
    if (settings.output.value !== 'table') return
    await output.text(`${text.split('\n').flatMap(wrapLine).join('\n')}\n`)
  }
}

function programOf(env: Environment): string {
  if (env['npm_command'] !== 'exec') return 'learnctl'
  const name = env['npm_config_package']
  return name ? `npx --package ${shellWord(name)} learnctl` : 'npx learnctl'
}

/** Chooses the database of `--database`, or of the profile `local`, which `saveProfile` creates if missing. */
function chooseDatabase(context: Context) {
  const { io, session, settings, directories, profiles } = context
  const program = programOf(io.env)
  if (settings.database.value !== null) {
    const target = session.target()
    const database = target.kind === 'local' ? target.database : directories.database
    const prefix = `${program} --database ${settings.database.value}`
    return { database, prefix, active: null, saveProfile: async () => {} }
  }
  const stored = profiles.read()
  const known = stored.profiles[localProfile]
  if (known && !isLocal(known)) {
    throw new UsageError(`Profile ${localProfile} is already used for ${known.url}`, {
      hint: 'Choose a file for the academy: learnctl quickstart --database ./academy.db',
    })
  }
  const database = known?.database ?? directories.database
  const activate = stored.active === null
  const saveProfile = async () => {
    if (known && !activate) return
    await profiles.change((now) => ({
      active: now.active ?? localProfile,
      profiles: { ...now.profiles, [localProfile]: known ?? { database } },
    }))
  }
  const origin = { source: 'default', name: 'quickstart' } as const
  session.use({ kind: 'local', database, profile: localProfile, origin, shadows: [] })
  const own = activate || stored.active === localProfile
  return {
    database,
    saveProfile,
    prefix: own ? program : `${program} --profile ${localProfile}`,
    active: activate
      ? `Switched to profile ${localProfile}`
      : own
        ? null
        : `Profile ${stored.active} stays active; use --profile ${localProfile} for this academy`,
  }
}

async function addLearners({ session }: Context): Promise<string> {
  const { hasExamples, loadExamples, readExampleData } = await import('../local-server/example-data.ts')
  const [data, caller] = await Promise.all([readExampleData(), session.caller()])
  const source = 'Open University Learning Analytics Dataset, CC BY 4.0'
  if (await hasExamples(caller, data))
    return `The ${data.users.length} example learners already exist (${source})`
  const { courses, learners, enrollments, progress, grades } = await loadExamples(caller, data)
  return `Added ${learners} learners with ${enrollments} enrolments in ${courses} courses, ${progress} progress records and ${grades} grades (${source})`
}

function createLineRunner(
  context: Context,
  prefix: string,
  say: Say,
  runLine: RunLine,
): (line: string, words: readonly string[]) => Promise<void> {
  return async (line, words) => {
    await say(`  $ ${prefix} ${line}`)
    const silent = async () => {}
    const shown = { one: silent, note: silent, text: silent, done: (text: string) => say(`  ${text}`) }
    await runLine(words, { ...context, output: { ...context.output, ...shown } })
  }
}

async function makeCourse(
  { session }: Context,
  type: ReturnType<typeof createLineRunner>,
  say: Say,
): Promise<void> {
  const { courses } = (await import('../../contract/calls.ts')).calls
  const caller = await session.caller()
  const { data: known } = await caller.call(courses.list, { query: { external_id: 'first-course' } })
  if (known.data.length > 0) return say('  Course ext:first-course already exists')
  const { data: deleted } = await caller.call(courses.listDeleted, { query: { limit: 100 } })
  const former = deleted.data.find(({ externalId }) => externalId === 'first-course')
  if (former) return type(`courses restore ${former.id}`, ['courses', 'restore', former.id])
  await type('courses create --title "My first course" --external-id first-course', [
    ...['courses', 'create', '--title', 'My first course', '--external-id', 'first-course'],
  ])
  for (const [title, id] of [
    ['Welcome', 'welcome'],
    ['How it works', 'how-it-works'],
  ] as const) {
    await type(
      `lessons create --course ext:first-course --title ${JSON.stringify(title)} --external-id ${id}`,
      ['lessons', 'create', '--course', 'ext:first-course', '--title', title, '--external-id', id],
    )
  }
  await type('courses publish ext:first-course', ['courses', 'publish', 'ext:first-course'])
}

async function exportOnce(context: Context, prefix: string, say: Say): Promise<string> {
  const { access } = await import('node:fs/promises')
  const { join } = await import('node:path')
  const path = join(context.io.cwd, exportFile)
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  if (exists) {
    await say(`  ${escapeHidden(path)} already exists and is kept`)
    return path
  }
  await say(`  $ ${prefix} analytics export --file ${exportFile}`)
  const [{ exportLearners }, { calls }, caller] = await Promise.all([
    import('../export/learner-export.ts'),
    import('../../contract/calls.ts'),
    context.session.caller(),
  ])
  const tell = async (text: string) => say(`  ${text}`)
  const quietContext = { ...context, output: { ...context.output, done: tell, note: tell } }
  await exportLearners(quietContext, caller, {
    operation: calls.analytics.learners,
    query: {},
    format: 'csv',
    columns: null,
    raw: false,
    bom: false,
    delimiter: ',',
    file: exportFile,
    gzip: false,
    force: false,
  })
  return path
}

async function summarise({ io, session, settings, output }: Context): Promise<Summary> {
  const [{ calls }, { drawSummary }, { createPainterFor }, caller] = await Promise.all([
    import('../../contract/calls.ts'),
    import('../output/summary-view.ts'),
    import('../terminal/format-text.ts'),
    session.caller(),
  ])
  const { data } = await caller.call(calls.analytics.learners, { query: { limit: 1 } })
  if (data.summary && settings.output.value === 'table') {
    const chalk = await createPainterFor(io.stdout, io, settings)
    await output.text(drawSummary(data.summary, io.stdout.columns ?? 80, chalk))
  }
  return data.summary
}

type Summary = Answer<typeof analytics.learners>['summary']
