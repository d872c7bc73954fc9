package lapic

// The rules of some releases, named by the first that has them: what the tests
// here need of the history of kernels, which this package does not know.
var (
	Era4_9  = Rules{MinPeriod: 500 * microsecond, SwitchCancelsAll: true, RawTDCR: true, WaitAlways: true}
	Era4_10 = Rules{MinPeriod: 500 * microsecond, SwitchCancelsAll: true, RawTDCR: true, WaitAlways: true,
		HVAllModes: true}
	Era4_19 = Rules{MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true}
	Era5_2 = Rules{MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true}
	Era5_3 = Rules{MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true}
	Era5_6 = Rules{MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true,
		SwitchCancelsHV: true}
	Era5_8 = Rules{MinPeriod: 200 * microsecond, RawTDCR: true, RescaleTDCR: true, HVAllModes: true,
		HVAdvance: true, SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true,
		SwitchCancelsHV: true, DirectInject: true, BusyExits: true}
	Era5_10 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true}
	Era5_14 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true}
	Era5_19 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, DisabledDropsAPICv: true}
	Era6_10 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true}
	Era6_19 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true, PeriodicFromNow: true}
	Era7_3 = Rules{MinPeriod: 200 * microsecond, RescaleTDCR: true, HVAllModes: true, HVAdvance: true,
		SWAdvanceTest: true, ExpiredIfHV: true, WaitInNanos: true, PostedTimer: true, SwitchCancelsHV: true,
		DirectInject: true, BusyExits: true, GuardEnabled: true, ExpireFirst: true, KickCallbackOnly: true, CancelDropsPending: true,
		RestoreZero: true, RestoreDropsExpired: true, TuneFirst: true,
		ModifiedInhibits: true, ModifiedIDClears: true, DisabledDropsAPICv: true, PeriodicFromNow: true, HVMaxValue: true}
)

// eras are all of them, oldest first.
var eras = []Rules{Era4_9, Era4_10, Era4_19, Era5_2, Era5_3, Era5_6, Era5_8, Era5_10, Era5_14, Era5_19, Era6_10, Era6_19, Era7_3}

// The tunings of some releases.
var (
	Tune4_20 = TuneRules{Capped: true, Stops: true}
	Tune5_2  = TuneRules{Capped: true, Stops: true, Ceiling: TuneOff}
	Tune5_3  = TuneRules{Capped: true, Stops: true, Ceiling: TuneReset}
	Tune5_4  = TuneRules{Band: true, Ceiling: TuneReset}
)

// tunings are all of them, oldest first.
var tunings = []TuneRules{Tune4_20, Tune5_2, Tune5_3, Tune5_4}

const microsecond = 1000
