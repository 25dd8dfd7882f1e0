import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { parse } from 'yaml'
import manifest from '../package.json' with { type: 'json' }
import { freshDirectory } from './helpers/academy.ts'
import { type Ended, root, run } from './helpers/process.ts'

interface Step {
  readonly name?: string
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
  readonly 'working-directory'?: string
}

interface Job {
  readonly needs?: string | readonly string[]
  readonly uses?: string
  readonly permissions: Readonly<Record<string, string>>
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = join(root, '.github/workflows')
const names = readdirSync(folder)
const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'))
const workflows = texts.map((text): Workflow => parse(text))
const { jobs } = parse(readFileSync(join(folder, 'release.yml'), 'utf8')) as Workflow
const allJobs = workflows.flatMap((workflow) => Object.entries(workflow.jobs))
const steps = allJobs.flatMap(([, job]) => job.steps ?? [])

/** Returns all jobs that a job waits for. */
function awaited(name: string): readonly string[] {
  const needs = [jobs[name]?.needs ?? []].flat()
  return [...new Set(needs.flatMap((each) => [each, ...awaited(each)]))]
}

const test = base.extend('place', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  /** Runs the script of a step as GitHub does. */
  const runStep = (job: string, name: string, env: Readonly<Record<string, string>>): Promise<Ended> => {
    const step = jobs[job]?.steps?.find((each) => each.name === name)
    return run('bash', ['-e', '-o', 'pipefail', '-c', step?.run ?? 'exit 99'], {
      cwd: join(path, step?.['working-directory'] ?? ''),
      env: { GITHUB_REPOSITORY: 'school/learnctl', GITHUB_REF_NAME: 'v1.2.0', ...env },
    })
  }
  return { path, runStep }
})

test('steps run scripts that exist', () => {
  const scripts = steps.flatMap((step) => (step.run ?? '').match(/npm run [\w:-]+/g) ?? [])
  expect(scripts).toEqual(expect.arrayContaining(['npm run release', 'npm run executable']))
  for (const script of scripts) expect(Object.keys(manifest.scripts)).toContain(script.slice(8))
  const programs = steps.flatMap((step) => /^(\.\S+)$/.exec(step.run ?? '')?.slice(1) ?? [])
  expect(programs).toEqual(['.ci/run'])
  for (const program of programs) accessSync(join(root, program), constants.X_OK)
  const paths = steps.flatMap((step) => step.with?.['file'] ?? [])
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('actions are those of GitHub and Docker, by their version', () => {
  const others = allJobs.flatMap(([, job]) => job.uses ?? [])
  for (const uses of others) expect(existsSync(join(root, uses)), uses).toBe(true)
  for (const { uses } of steps) expect(uses ?? 'actions/none@v1').toMatch(/^(actions|docker)\/[a-z-]+@v\d+$/)
})

test('a job has the rights that it needs, and no secret but its own token', () => {
  for (const workflow of workflows) expect(workflow.permissions).toEqual({})
  const rights = Object.fromEntries(allJobs.map(([name, job]) => [name, Object.entries(job.permissions)]))
  const written = Object.entries(rights).map(([name, each]) => [
    name,
    each.flatMap(([right, access]) => (access === 'write' ? right : [])),
  ])
  expect(Object.fromEntries(written)).toEqual({
    all: [],
    tag: [],
    check: [],
    package: [],
    executables: [],
    npm: ['id-token'],
    image: ['packages', 'id-token', 'attestations'],
    github: ['contents', 'id-token', 'attestations'],
  })
  for (const text of texts) {
    expect(
      [...text.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name).filter((name) => name !== 'GITHUB_TOKEN'),
    ).toEqual([])
  }
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  for (const { with: given } of checkouts) expect(given?.['persist-credentials']).toBe(false)
})

test('scripts get values of a run as variables, never as text', () => {
  expect(steps.filter((step) => step.run?.includes('${{'))).toEqual([])
})

test('nothing is published before the tests have passed and all files are made', () => {
  for (const name of ['npm', 'image', 'github']) {
    expect(awaited(name), name).toEqual(expect.arrayContaining(['tag', 'check', 'package', 'executables']))
  }
})

describe('the tag of a release', () => {
  const step = 'Compare the tag and the repository with package.json'

  test.for([
    ['github:school/learnctl'],
    ['https://github.com/school/learnctl'],
    [{ type: 'git', url: 'git+https://github.com/school/learnctl.git' }],
  ] as const)('fits package.json with the repository %j', async ([repository], { place }) => {
    writeFileSync(join(place.path, 'package.json'), JSON.stringify({ version: '1.2.0', repository }))
    expect(await place.runStep('tag', step, {})).toMatchObject({ code: 0, stdout: '' })
  })

  test.for([
    ['1.1.0', 'github:school/learnctl', 'The tag is v1.2.0, but package.json has version 1.1.0'],
    ['1.2.0', undefined, 'The repository is school/learnctl, but package.json has repository none'],
    ['1.2.0', 'github:other/learnctl', 'but package.json has repository github:other/learnctl'],
  ] as const)(
    'is refused with version %s and repository %s',
    async ([version, repository, message], { place }) => {
      writeFileSync(join(place.path, 'package.json'), JSON.stringify({ version, repository }))
      const ended = await place.runStep('tag', step, {})
      expect(ended.code).toBe(1)
      expect(ended.stdout).toMatch(/^::error::/)
      expect(ended.stdout).toContain(message)
    },
  )
})

test('the checksums are of all files that are published', async ({ place }) => {
  const release = join(place.path, 'release')
  mkdirSync(release)
  const published = ['learnctl-1.2.0.tgz', 'learnctl-linux-x64', 'learnctl-win32-x64.exe']
  for (const name of [...published, 'learnctl-linux-x64.sha256', 'notes.md'])
    writeFileSync(join(release, name), name)
  expect(await place.runStep('github', 'Write the checksums', {})).toMatchObject({ code: 0 })
  const lines = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n')
  expect(lines.map((line) => line.slice(66))).toEqual(published)
})
