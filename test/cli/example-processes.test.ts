import { afterAll, beforeEach, expect, test } from 'vitest'
import { inProcesses, openExamples, successOf } from '../helpers/examples.ts'
import { helpExamples } from '../helpers/help-examples.ts'

const place = await openExamples()
beforeEach(() => place.reset())
afterAll(() => place.close())

const { examples } = await helpExamples()

test.for(examples.filter(([line]) => inProcesses.test(line)))(
  'of the examples in help that start or end processes: learnctl %s',
  async ([line]) => {
    const ran = await place.run(line)
    expect(ran, ran.stderr).toMatchObject({ code: successOf(line) })
  },
)
