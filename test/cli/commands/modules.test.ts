import { beforeEach, describe, expect } from 'vitest'
import { type TestCli, test } from '../../helpers/cli.ts'

const course = {
  externalId: 'SEA',
  title: 'Sea',
  modules: [
    {
      title: 'Tides',
      description: 'Up and down',
      lessons: [
        { externalId: 'moon', title: 'The moon' },
        { externalId: 'sun', title: 'The sun' },
      ],
    },
    { title: 'Reefs', lessons: [{ externalId: 'corals', title: 'Corals' }] },
  ],
  lessons: [{ externalId: 'bye', title: 'Farewell' }],
}

beforeEach<{ local: TestCli }>(async ({ local }) => {
  await local.run('courses apply -f -', { stdin: JSON.stringify(course) })
})

/** Returns the modules of the course by place, with their number of lessons. */
async function modules(cli: TestCli): Promise<string[]> {
  const rows = JSON.parse((await cli.run('modules list --course SEA -o json')).stdout)
  return rows.map(({ order, title, lessons }: Record<string, unknown>) => `${order} ${title} ${lessons}`)
}

/** Returns the lessons of the course in order, with their modules. */
async function lessons(cli: TestCli): Promise<string[]> {
  const shown = JSON.parse((await cli.run('lessons export --course SEA --sort order --format json')).stdout)
  return shown.map(({ externalId, module }: Record<string, string>) => `${module ?? '-'}: ${externalId}`)
}

test('modules are listed with their lessons, and added at a place', { tags: ['slow'] }, async ({ local }) => {
  expect(await modules(local)).toEqual(['1 Tides 2', '2 Reefs 1'])
  expect((await local.run('modules list --course SEA -q')).stdout).toMatch(/^mod_\w+\nmod_\w+\n$/)
  expect((await local.run('modules list')).stderr).toContain('--course is required')
  const made = await local.run('modules create --course SEA --title Currents --after Tides')
  expect(made.stderr).toBe('Added module Currents to course Sea (SEA), version 2\n')
  expect(made.stdout).toMatch(/^mod_\w+\n$/)
  await local.run('modules create --course SEA --title Storms')
  expect(await modules(local)).toEqual(['1 Tides 2', '2 Currents 0', '3 Reefs 1', '4 Storms 0'])
  const again = await local.run('modules create --course SEA --title Reefs')
  expect([again.code, again.stderr]).toEqual([6, 'error: Course Sea (SEA) already has a module Reefs\n'])
})

test('a module is renamed and keeps its lessons', { tags: ['slow'] }, async ({ local }) => {
  const ran = await local.run('modules rename Tides --course SEA --title "High and low"')
  expect(ran.stderr).toBe('Renamed module Tides of course Sea (SEA) to High and low, version 2\n')
  expect(await modules(local)).toEqual(['1 High and low 2', '2 Reefs 1'])
  const same = await local.run('modules rename "High and low" --course SEA --title "High and low"')
  expect(same.stderr).toBe('No changes to module High and low of course Sea (SEA)\n')
  const unknown = await local.run('modules rename Reef --course SEA --title x')
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining('error: Module Reef not found in course Sea (SEA)\n'),
  ])
  expect(unknown.stderr).toMatch(/Reefs/)
})

test('a module is moved by place, title and number', { tags: ['slow'] }, async ({ local }) => {
  await local.run('modules create --course SEA --title Storms')
  expect((await local.run('modules move Storms --course SEA --position 1')).stderr).toBe(
    'Moved module Storms of course Sea (SEA) to place 1 of 3, version 3\n',
  )
  await local.run('modules move 3 --course SEA --position 2')
  expect(await modules(local)).toEqual(['1 Storms 0', '2 Reefs 1', '3 Tides 2'])
  const none = await local.run('modules move Storms --course SEA')
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--after or --position is required')])
  const there = await local.run('modules move Storms --course SEA --position 1')
  expect(there.stderr).toContain('No changes to module Storms of course Sea (SEA): it is at place 1 of 3')
})

test('a module is deleted after a confirmation; its lessons stay', { tags: ['slow'] }, async ({ local }) => {
  const refused = await local.run('modules delete Tides --course SEA')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('without confirmation')])
  const asked = await local.run('modules delete Tides --course SEA', { tty: 80, typed: ['y\n'] })
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain('Its 2 lessons stay in the course, without a module.')
  expect(await modules(local)).toEqual(['1 Reefs 1'])
  expect(await lessons(local)).toEqual(['-: moon', '-: sun', 'Reefs: corals', '-: bye'])
})

test('a change of modules carries the version of the course', { tags: ['slow'] }, async ({ local }) => {
  const dry = await local.run('modules delete Tides --course SEA --dry-run')
  expect(dry.stdout).toMatch(/^PUT .*\/v1\/courses\/crs_\w+\n/)
  expect(dry.stdout).toContain('if-match: "1"')
  expect(await modules(local)).toHaveLength(2)
})

describe('lessons move', () => {
  test.for([
    ['moon --after sun', ['Tides: sun', 'Tides: moon', 'Reefs: corals', '-: bye']],
    ['bye --module Tides --position 2', ['Tides: moon', 'Tides: bye', 'Tides: sun', 'Reefs: corals']],
    ['bye --module Reefs', ['Tides: moon', 'Tides: sun', 'Reefs: corals', 'Reefs: bye']],
    ['corals --module Tides --position 1', ['Tides: corals', 'Tides: moon', 'Tides: sun', '-: bye']],
    ['sun --position 1', ['Tides: sun', 'Tides: moon', 'Reefs: corals', '-: bye']],
    ['moon --module none', ['Tides: sun', 'Reefs: corals', '-: bye', '-: moon']],
    ['moon --after "The sun"', ['Tides: sun', 'Tides: moon', 'Reefs: corals', '-: bye']],
    ['moon --module 2 --position 1', ['Tides: sun', 'Reefs: moon', 'Reefs: corals', '-: bye']],
  ] as const)('%s', async ([line, expected], { local }) => {
    const ran = await local.run(`lessons move ${line}`)
    expect(ran.code, ran.stderr).toBe(0)
    expect(await lessons(local)).toEqual(expected)
  })

  test('says the place that --position counts, without deleted', { tags: ['slow'] }, async ({ local }) => {
    await local.run('lessons delete sun --yes')
    expect((await local.run('lessons move bye --module Reefs --position 1')).stderr).toBe(
      'Moved lesson Farewell (bye) to place 1 of 2 in its module\n',
    )
    expect((await local.run('lessons move corals --module none')).stderr).toMatch(/ to place 1 of 1\n$/)
  })

  test('says where the lesson is, and that nothing changed', { tags: ['slow'] }, async ({ local }) => {
    expect((await local.run('lessons move sun --position 1')).stderr).toBe(
      'Moved lesson The sun (sun) to place 1 of 2 in its module\n',
    )
    expect((await local.run('lessons move sun --position 1')).stderr).toBe(
      'No changes to lesson The sun (sun): it is there already\n',
    )
    const none = await local.run('lessons move sun')
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--position is required')])
    const unknown = await local.run('lessons move sun --after Moonlight')
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('Lesson Moonlight not found')])
  })
})

test('lessons are created and listed by title of module', { tags: ['slow'] }, async ({ local }) => {
  await local.run('lessons create --course SEA --module Reefs --title Sponges --external-id sponges')
  await local.run('lessons update bye --module Reefs')
  const { stdout } = await local.run('lessons list --course SEA --module Reefs --columns externalId')
  expect(stdout).toBe('corals\nbye\nsponges\n')
  const unknown = await local.run('lessons create --course SEA --module Storms --title x')
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining('Module Storms not found in course Sea'),
  ])
})
