import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { type CanvasSchool, canvasToken, fakeCanvas } from '../helpers/fake-canvas.ts'
import { serveFake } from '../helpers/fake-system.ts'
import { measureMs, median } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const rounds = 3
const people = 5000
const courses = 100
const enrollments = 30_000
const pageMs = 200
/** Requests that the reader of Canvas sends at once. */
const atOnce = 8

/** Measures how long a school is read from a Canvas that takes 200 ms for a page, against as many requests at once without anything else. */
export async function benchPull(bin: string, directory: string): Promise<BenchRow> {
  let pages = 0
  const canvas = await serveFake(
    fakeCanvas(school(), {
      before: async () => {
        pages += 1
        await new Promise((resolve) => setTimeout(resolve, pageMs))
        return undefined
      },
    }),
  )
  const env = { XDG_STATE_HOME: directory, XDG_CONFIG_HOME: directory }
  const path = join(directory, 'pull.db')
  const database = ['--database', path]
  await (await openAcademy({ path })).close()
  try {
    const settings = join(directory, 'canvas.json')
    writeFileSync(settings, JSON.stringify({ baseUrl: canvas.url, accessToken: canvasToken }))
    const set = ['integrations', 'set', 'canvas', '--body', `@${settings}`]
    await measureMs(process.execPath, [bin, ...set, ...database], { env })
    const values: number[] = []
    let spent: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      pages = 0
      const ms = await measureMs(
        process.execPath,
        [bin, 'roster', 'validate', 'integration:canvas', ...database],
        { env },
      )
      values.push(ms / ((pages * pageMs) / atOnce))
      spent = [...spent, ms]
    }
    return {
      figure: 'connect: read a school from a Canvas of 200 ms a page, over its pages alone',
      value: median(values),
      ...atMost(1.3),
      from: `${(median(spent) / 1000).toFixed(1)} s, ${people} people, ${enrollments} enrolments, ${pages} pages, ${atOnce} at once, ${rounds} rounds`,
    }
  } finally {
    canvas.close()
  }
}

function school(): CanvasSchool {
  const inCourse = enrollments / courses
  return {
    terms: [{ id: 7, sis: 'S26', name: 'Spring 2026' }],
    users: Array.from({ length: people }, (_, index) => ({
      ...{ id: index + 1, sis: `u${index}`, first: `Ada${index}`, last: 'Lovelace' },
    })),
    courses: Array.from({ length: courses }, (_, index) => ({
      ...{ id: index + 1, sis: `c${index}`, name: `Course ${index}`, term: 7 },
    })),
    enrollments: Array.from({ length: enrollments }, (_, index) => ({
      course: Math.floor(index / inCourse) + 1,
      user: ((index * 7) % people) + 1,
    })),
  }
}
