// What tests of this package and of others share: a scripted model and a replay server.
export {};
